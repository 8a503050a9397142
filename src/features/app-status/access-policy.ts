import { type AppStatus, LONGEST_VERSION } from '../../../schema/app-status.ts'
import type { ClientType, EventData } from '../../../schema/events.ts'
import type { Language } from './languages.ts'
import { isOlder, readVersion, type Version } from './releases/version.ts'

/** What a client is known to be. */
export interface Client {
  /** Null for a type that is none of ours. */
  readonly type: ClientType | null
  /** As it was sent; null when it was not. */
  readonly version: string | null
}

/** Closed to a client, with what it is answered. */
export interface Closed {
  readonly status: 503 | 426
  readonly body: AppStatus
}

export type InLanguages<T> = Readonly<Record<Language, T>>

const none: AppStatus = { status: 'success', type: 'none', data: {} }

/** Versions that clients have: there are not many, and whoever makes them up gets no more room than this. */
const MOST_VERSIONS = 1_000

type Age = 'current' | 'old' | 'too old'

/** A release, made ready for judging. */
class Judge {
  readonly optional: InLanguages<AppStatus>
  readonly forced: InLanguages<Closed>
  readonly hasMinimum: boolean
  readonly #newest: Version | null
  readonly #oldest: Version | null
  readonly #ages = new Map<string, Age>()

  constructor({ version, minimum_version, store_link, title, message }: EventData<'release-defined'>) {
    const body = (is_force: boolean, language: Language): AppStatus => {
      const words = { title: title[language], message: message[language] }
      return { status: 'success', type: 'update', data: { is_force, version, store_link, ...words } }
    }
    this.optional = { en: body(false, 'en'), ar: body(false, 'ar') }
    this.forced = {
      en: { status: 426, body: body(true, 'en') },
      ar: { status: 426, body: body(true, 'ar') },
    }
    this.#newest = readVersion(version)
    this.#oldest = minimum_version === null ? null : readVersion(minimum_version)
    this.hasMinimum = this.#oldest !== null
  }

  /** A version that is missing or cannot be read is older than every other. */
  ageOf(version: string | null): Age {
    const text = version === null || version.length > LONGEST_VERSION ? '' : version
    let age = this.#ages.get(text)
    if (age === undefined) {
      if (this.#ages.size >= MOST_VERSIONS) this.#ages.clear()
      this.#ages.set(text, (age = this.#compare(readVersion(text))))
    }
    return age
  }

  #compare(version: Version | null): Age {
    const isBelow = (limit: Version | null) => limit !== null && (version === null || isOlder(version, limit))
    if (isBelow(this.#oldest)) return 'too old'
    return isBelow(this.#newest) ? 'old' : 'current'
  }
}

/** Mode and releases as they stand, with every answer made: judging a request is looking things up. */
export class Posture {
  /** The answer to everyone during maintenance. */
  readonly maintenance: InLanguages<Closed> | null
  /** The answer to clients of which nothing is known. */
  readonly unidentified: InLanguages<Closed> | null
  /** Whether it matters who a client is. */
  readonly asksWho: boolean
  readonly #judges: ReadonlyMap<ClientType, Judge>

  constructor(mode: EventData<'app-mode-set'>, releases: Iterable<EventData<'release-defined'>>) {
    const closed = (language: Language): Closed => {
      const data = { title: mode.title[language], message: mode.message[language] }
      return { status: 503, body: { status: 'success', type: 'maintenance', data } }
    }
    this.maintenance = mode.maintenance ? { en: closed('en'), ar: closed('ar') } : null
    this.#judges = new Map([...releases].map((release) => [release.client_type, new Judge(release)]))
    const named = mode.block_unidentified === null ? undefined : this.#judges.get(mode.block_unidentified)
    this.unidentified = named?.forced ?? null
    this.asksWho = this.unidentified !== null || [...this.#judges.values()].some(({ hasMinimum }) => hasMinimum)
  }

  /** The answer to a client that a forced update refuses; null: nothing is known of it. */
  refused(client: Client | null): InLanguages<Closed> | null {
    if (client === null || client.type === null) return this.unidentified
    const judge = this.#judges.get(client.type)
    return judge?.ageOf(client.version) === 'too old' ? judge.forced : null
  }

  /** What `app-status` answers. */
  told({ type, version }: Client, language: Language): AppStatus {
    if (this.maintenance !== null) return this.maintenance[language].body
    const judge = type === null ? undefined : this.#judges.get(type)
    const age = judge?.ageOf(version)
    if (judge === undefined || age === 'current') return none
    return age === 'too old' ? judge.forced[language].body : judge.optional[language]
  }
}
