import { LRUCache } from 'lru-cache'
import { type AppStatus, MAX_VERSION_LENGTH } from '../../../schema/app-status.ts'
import type { ClientType, EventData } from '../../../schema/events.ts'
import type { Language } from '../../../schema/languages.ts'
import { headerValue, queryValue, type RequestHints } from '../../language/request-language.ts'
import { isOlder, parseVersion, type Version } from './version.ts'

/** Type and version of a client. */
export interface Client {
  /** Null for an unknown type. */
  readonly type: ClientType | null
  /** As sent; null when missing. */
  readonly version: string | null
}

/** The response to a client that the service is closed to. */
interface Closed {
  readonly status: 503 | 426
  readonly body: AppStatus
}

type InLanguages<T> = Readonly<Record<Language, T>>

const noUpdate: AppStatus = { status: 'success', type: 'none', data: {} }

/** Real clients have few distinct versions; the limit bounds what made-up ones can occupy. */
const MAX_CACHED_VERSIONS = 1_000

type Age = 'current' | 'old' | 'too old'

/** A release with its responses prepared, so that a request needs only a lookup. */
class ReleasePolicy {
  readonly optional: InLanguages<AppStatus>
  readonly forced: InLanguages<Closed>
  readonly hasMinimum: boolean
  readonly #version: Version | null
  readonly #minimumVersion: Version | null
  readonly #ages = new LRUCache<string, Age>({ max: MAX_CACHED_VERSIONS })

  constructor({ version, minimum_version, store_link, title, message }: EventData<'release-defined'>) {
    const body = (is_force: boolean, language: Language): AppStatus => {
      const texts = { title: title[language], message: message[language] }
      return { status: 'success', type: 'update', data: { is_force, version, store_link, ...texts } }
    }
    this.optional = { en: body(false, 'en'), ar: body(false, 'ar') }
    this.forced = {
      en: { status: 426, body: body(true, 'en') },
      ar: { status: 426, body: body(true, 'ar') },
    }
    this.#version = parseVersion(version)
    this.#minimumVersion = minimum_version === null ? null : parseVersion(minimum_version)
    this.hasMinimum = this.#minimumVersion !== null
  }

  /** A missing or malformed version is older than every other. */
  ageOf(version: string | null): Age {
    const text = version === null || version.length > MAX_VERSION_LENGTH ? '' : version
    let age = this.#ages.get(text)
    if (age === undefined) {
      this.#ages.set(text, (age = this.#compare(parseVersion(text))))
    }
    return age
  }

  #compare(version: Version | null): Age {
    const isBelow = (limit: Version | null) => limit !== null && (version === null || isOlder(version, limit))
    if (isBelow(this.#minimumVersion)) return 'too old'
    return isBelow(this.#version) ? 'old' : 'current'
  }
}

/** Which clients the service is open to under a mode and releases, with all responses prepared. */
export class AccessPolicy {
  /** The response to everyone during maintenance; null outside of it. */
  readonly maintenance: InLanguages<Closed> | null
  /** The response to unidentified clients; null lets them pass. */
  readonly unidentified: InLanguages<Closed> | null
  /** Whether decisions depend on the client at all. */
  readonly dependsOnClient: boolean
  readonly #releases: ReadonlyMap<ClientType, ReleasePolicy>

  constructor(mode: EventData<'app-mode-set'>, releases: Iterable<EventData<'release-defined'>>) {
    const closed = (language: Language): Closed => {
      const data = { title: mode.title[language], message: mode.message[language] }
      return { status: 503, body: { status: 'success', type: 'maintenance', data } }
    }
    this.maintenance = mode.maintenance ? { en: closed('en'), ar: closed('ar') } : null
    this.#releases = new Map([...releases].map((release) => [release.client_type, new ReleasePolicy(release)]))
    const blocking = mode.block_unidentified === null ? undefined : this.#releases.get(mode.block_unidentified)
    this.unidentified = blocking?.forced ?? null
    this.dependsOnClient =
      this.unidentified !== null || [...this.#releases.values()].some(({ hasMinimum }) => hasMinimum)
  }

  /** The response to a client that must update; null when it may pass. `client` is null when it is unidentified. */
  refusalFor(client: Client | null): InLanguages<Closed> | null {
    if (client === null || client.type === null) return this.unidentified
    const release = this.#releases.get(client.type)
    return release?.ageOf(client.version) === 'too old' ? release.forced : null
  }

  /** The body of GET /app-status. */
  appStatusFor({ type, version }: Client, language: Language): AppStatus {
    if (this.maintenance !== null) return this.maintenance[language].body
    const release = type === null ? undefined : this.#releases.get(type)
    const age = release?.ageOf(version)
    if (release === undefined || age === 'current') return noUpdate
    return age === 'too old' ? release.forced[language].body : release.optional[language]
  }
}

const TYPE = 'client-type'
const VERSION = 'client-version'

/** `Client-Type` as sent, in a header or in the query; null when it is missing. */
export const clientTypeIn = ({ headers, query }: RequestHints): string | null =>
  headerValue(headers[TYPE]) ?? queryValue(query, TYPE)

/** `Client-Version` as sent, in a header or in the query; null when it is missing. */
export const clientVersionIn = ({ headers, query }: RequestHints): string | null =>
  asUtf8(headerValue(headers[VERSION])) ?? queryValue(query, VERSION)

/** Phones write digits of any script, which Node reads byte by byte; what is no UTF-8 stays as it was read. */
function asUtf8(header: string | null): string | null {
  if (header === null) return null
  const text = Buffer.from(header, 'latin1').toString()
  return text.includes('\ufffd') ? header : text
}

/** The client of a type and version; null when both are missing. */
export function toClient(type: string | null, version: string | null): Client | null {
  return type === null && version === null ? null : { type: parseClientType(type), version }
}

const types: ReadonlyMap<string, ClientType> = new Map([
  ['android', 'android'],
  ['ios', 'ios'],
  ['flutter', 'flutter'],
])

/** Null for an unknown type. */
export const parseClientType = (name: string | null): ClientType | null =>
  name === null ? null : (types.get(name) ?? types.get(name.trim().toLowerCase()) ?? null)
