import type { FastifyRequest } from 'fastify'
import type { AppStatus } from '../../../schema/app-status.ts'
import type { EventData } from '../../../schema/events.ts'
import { type AppState, type ClosedState, type IsOurs, type Judgement, type Shown } from '../../http/auth/gate.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'
import { type Client, Posture } from './access-policy.ts'
import { clientOf, languageIn, typeIn, versionIn } from './clients/client-hints.ts'
import type { ToldClients } from './clients/client-registry.ts'
import { TokenKeys } from './clients/token-keys.ts'
import type { Language } from './languages.ts'
import { openMode } from './mode.ts'
import { readVersion } from './releases/version.ts'

/** Mode and releases as they are at a position of the ledger. */
export interface Standing {
  readonly position: number
  readonly mode: EventData<'app-mode-set'> | null
  readonly releases: readonly EventData<'release-defined'>[]
}

/** So long what the database said of a token is good enough to refuse its holder, who may just have updated. */
const REFUSE_WITHIN_MS = 1_000
/** So long a token of which nothing is known is not looked up again; what is told with it meanwhile arrives by itself. */
const UNKNOWN_FOR_MS = 60_000

/** What an event is about: the mode, or the release of a type. */
type Subject = 'mode' | EventData<'release-defined'>['client_type']

/**
 * To whom the service is open, in memory: judging asks nobody, and the last known mode stands while the database is
 * away. Events may be heard twice and those of other instances late: of each subject the highest position counts.
 */
export class AppStatusGate implements AppState {
  readonly #told: Pick<ToldClients, 'known' | 'lookUp' | 'tell'>
  readonly #from: number
  readonly #heard = new Map<Subject, number>()
  #mode: EventData<'app-mode-set'>
  readonly #releases: Map<Subject, EventData<'release-defined'>>
  #posture: Posture
  readonly #keys = new TokenKeys()
  readonly #listeners = new Set<() => void>()

  constructor({ position, mode, releases }: Standing, told: Pick<ToldClients, 'known' | 'lookUp' | 'tell'>) {
    this.#told = told
    this.#from = position
    this.#mode = mode ?? openMode
    this.#releases = new Map(releases.map((release) => [release.client_type, release]))
    this.#posture = new Posture(this.#mode, this.#releases.values())
  }

  /** Hears of switches on other instances. */
  follow(tail: Pick<Tail, 'subscribe'>): void {
    tail.subscribe(this.#from, (events) => this.hear(events))
  }

  /** These were committed. When it returns, the gate judges by them. */
  hear(events: readonly PositionedEvent[]): void {
    let changed = false
    for (const event of events) changed = this.#apply(event) || changed
    if (!changed) return
    this.#posture = new Posture(this.#mode, this.#releases.values())
    for (const listener of this.#listeners) listener()
  }

  #apply(event: PositionedEvent): boolean {
    switch (event.type) {
      case 'app-mode-set':
        if (!this.#isNews('mode', event.position)) return false
        this.#mode = event.data
        return true
      case 'release-defined':
        if (!this.#isNews(event.data.client_type, event.position)) return false
        this.#releases.set(event.data.client_type, event.data)
        return true
      case 'release-removed':
        if (!this.#isNews(event.data.client_type, event.position)) return false
        this.#releases.delete(event.data.client_type)
        return true
      default:
        return false
    }
  }

  #isNews(subject: Subject, position: number): boolean {
    if (position <= (this.#heard.get(subject) ?? this.#from)) return false
    this.#heard.set(subject, position)
    return true
  }

  readonly gate = (request: FastifyRequest, isOurs: IsOurs): Judgement => {
    const { maintenance, asksWho } = this.#posture
    if (maintenance !== null) return maintenance[languageIn(request)]
    if (!asksWho) return undefined
    const client = clientOf(typeIn(request), versionIn(request))
    const language = (): Language => languageIn(request)
    return client === null
      ? this.#ofToken(this.#keys.of(request.headers.authorization, isOurs), language)
      : this.#of(client, language)
  }

  readonly judge = ({ type, version, language, tokenKey: key }: Shown): Judgement => {
    const { maintenance, asksWho } = this.#posture
    if (maintenance !== null) return maintenance[language]
    if (!asksWho) return undefined
    const client = clientOf(type, version)
    return client === null ? this.#ofToken(key, () => language) : this.#of(client, () => language)
  }

  #of(client: Client | null, language: () => Language): ClosedState | undefined {
    const { maintenance } = this.#posture
    return (maintenance ?? this.#posture.refused(client))?.[language()]
  }

  /** Judges a client that shows nothing, by what it told with its token. */
  #ofToken(key: string | null, language: () => Language): Judgement {
    if (key === null) return this.#of(null, language)
    const known = this.#told.known(key)
    if (known !== undefined) {
      const refused = this.#posture.refused(known.client) !== null
      if (known.client !== null && !refused) return undefined
      if (performance.now() - known.at < (refused ? REFUSE_WITHIN_MS : UNKNOWN_FOR_MS)) {
        return this.#of(known.client, language)
      }
    }
    return this.#told.lookUp(key).then(() => this.#of(this.#told.known(key)?.client ?? null, language))
  }

  readonly shownBy = (request: FastifyRequest): Omit<Shown, 'tokenKey'> => ({
    type: typeIn(request),
    version: versionIn(request),
    language: languageIn(request),
  })

  readonly answer = (request: FastifyRequest, isOurs: IsOurs, mayRemember: () => boolean): AppStatus => {
    const client = clientOf(typeIn(request), versionIn(request))
    if (client === null) return this.#posture.told(nobody, languageIn(request))
    const key = this.#keys.of(request.headers.authorization, isOurs)
    if (key !== null && mayRemember()) this.#told.tell(key, readable(client))
    return this.#posture.told(client, languageIn(request))
  }

  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

const nobody: Client = { type: null, version: null }

/** What cannot be read is not kept. */
const readable = ({ type, version }: Client): Client =>
  version === null || readVersion(version) === null ? { type, version: null } : { type, version }
