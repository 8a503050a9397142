import type { FastifyRequest } from 'fastify'
import type { AppStatus } from '../../../schema/app-status.ts'
import type { EventData } from '../../../schema/events.ts'
import type { Language } from '../../../schema/languages.ts'
import {
  type AppState,
  type ClientHints,
  type ClosedState,
  type GateDecision,
  type IsSignatureValid,
} from '../../http/auth/gate.ts'
import { languageOf } from '../../language/request-language.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'
import { AccessPolicy, type Client } from './access-policy.ts'
import { clientTypeIn, clientVersionIn, toClient } from './clients/client-hints.ts'
import type { ClientRegistry } from './clients/client-registry.ts'
import { TokenKeys } from './clients/token-keys.ts'
import { defaultMode } from './mode.ts'
import { parseVersion } from './releases/version.ts'

/** Mode and releases as of a position of the ledger. */
export interface AppStatusSnapshot {
  readonly position: number
  readonly mode: EventData<'app-mode-set'> | null
  readonly releases: readonly EventData<'release-defined'>[]
}

/** A client is refused only by a cached answer younger than this: it may have updated in the meantime. */
const MAX_REFUSAL_AGE_MS = 1_000
/** An unknown token is not looked up again for this long; new information about it arrives by polling. */
const MAX_UNKNOWN_AGE_MS = 60_000

/** What an event changes: the mode, or the release of a client type. */
type Subject = 'mode' | EventData<'release-defined'>['client_type']

/**
 * Decides from memory which clients the service is open to: no request waits for the database, and the last known mode
 * applies during an outage. Events may arrive twice or late from other instances: the highest position of each subject
 * wins.
 */
export class AppStatusGate implements AppState {
  readonly #registry: Pick<ClientRegistry, 'get' | 'load' | 'record'>
  readonly #snapshotPosition: number
  readonly #appliedPositions = new Map<Subject, number>()
  #mode: EventData<'app-mode-set'>
  readonly #releases: Map<Subject, EventData<'release-defined'>>
  #policy: AccessPolicy
  readonly #keys = new TokenKeys()
  readonly #listeners = new Set<() => void>()

  constructor(
    { position, mode, releases }: AppStatusSnapshot,
    registry: Pick<ClientRegistry, 'get' | 'load' | 'record'>,
  ) {
    this.#registry = registry
    this.#snapshotPosition = position
    this.#mode = mode ?? defaultMode
    this.#releases = new Map(releases.map((release) => [release.client_type, release]))
    this.#policy = new AccessPolicy(this.#mode, this.#releases.values())
  }

  /** Subscribes to changes made on other instances. */
  follow(tail: Pick<Tail, 'subscribe'>): void {
    tail.subscribe(this.#snapshotPosition, (events) => this.applyAll(events))
  }

  /** Applies committed events; they are in force when this returns. */
  applyAll(events: readonly PositionedEvent[]): void {
    let changed = false
    for (const event of events) changed = this.#apply(event) || changed
    if (!changed) return
    this.#policy = new AccessPolicy(this.#mode, this.#releases.values())
    for (const listener of this.#listeners) listener()
  }

  #apply(event: PositionedEvent): boolean {
    switch (event.type) {
      case 'app-mode-set':
        if (!this.#advance('mode', event.position)) return false
        this.#mode = event.data
        return true
      case 'release-defined':
        if (!this.#advance(event.data.client_type, event.position)) return false
        this.#releases.set(event.data.client_type, event.data)
        return true
      case 'release-removed':
        if (!this.#advance(event.data.client_type, event.position)) return false
        this.#releases.delete(event.data.client_type)
        return true
      default:
        return false
    }
  }

  #advance(subject: Subject, position: number): boolean {
    if (position <= (this.#appliedPositions.get(subject) ?? this.#snapshotPosition)) return false
    this.#appliedPositions.set(subject, position)
    return true
  }

  readonly gate = (request: FastifyRequest, isSignatureValid: IsSignatureValid): GateDecision => {
    const { maintenance, dependsOnClient } = this.#policy
    if (maintenance !== null) return maintenance[languageOf(request)]
    if (!dependsOnClient) return undefined
    const client = toClient(clientTypeIn(request), clientVersionIn(request))
    const language = (): Language => languageOf(request)
    return client === null
      ? this.#refusalForToken(this.#keys.of(request.headers.authorization, isSignatureValid), language)
      : this.#refusalFor(client, language)
  }

  readonly check = ({ type, version, language, tokenKey: key }: ClientHints): GateDecision => {
    const { maintenance, dependsOnClient } = this.#policy
    if (maintenance !== null) return maintenance[language]
    if (!dependsOnClient) return undefined
    const client = toClient(type, version)
    return client === null ? this.#refusalForToken(key, () => language) : this.#refusalFor(client, () => language)
  }

  #refusalFor(client: Client | null, language: () => Language): ClosedState | undefined {
    const { maintenance } = this.#policy
    return (maintenance ?? this.#policy.refusalFor(client))?.[language()]
  }

  /** Decides about a client that states neither type nor version, by what is registered for its token. */
  #refusalForToken(key: string | null, language: () => Language): GateDecision {
    if (key === null) return this.#refusalFor(null, language)
    const known = this.#registry.get(key)
    if (known !== undefined) {
      const refused = this.#policy.refusalFor(known.client) !== null
      if (known.client !== null && !refused) return undefined
      if (performance.now() - known.at < (refused ? MAX_REFUSAL_AGE_MS : MAX_UNKNOWN_AGE_MS)) {
        return this.#refusalFor(known.client, language)
      }
    }
    return this.#registry.load(key).then(() => this.#refusalFor(this.#registry.get(key)?.client ?? null, language))
  }

  readonly hintsOf = (request: FastifyRequest): Omit<ClientHints, 'tokenKey'> => ({
    type: clientTypeIn(request),
    version: clientVersionIn(request),
    language: languageOf(request),
  })

  readonly statusFor = (
    request: FastifyRequest,
    isSignatureValid: IsSignatureValid,
    mayRemember: () => boolean,
  ): AppStatus => {
    const client = toClient(clientTypeIn(request), clientVersionIn(request))
    if (client === null) return this.#policy.appStatusFor(unknownClient, languageOf(request))
    const key = this.#keys.of(request.headers.authorization, isSignatureValid)
    if (key !== null && mayRemember()) this.#registry.record(key, withReadableVersion(client))
    return this.#policy.appStatusFor(client, languageOf(request))
  }

  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

const unknownClient: Client = { type: null, version: null }

/** Drops a malformed version, which is not worth storing. */
const withReadableVersion = ({ type, version }: Client): Client =>
  version === null || parseVersion(version) === null ? { type, version: null } : { type, version }
