import type { FastifyRequest } from 'fastify'
import type { AppStatus } from '../../../schema/app-status.ts'
import type { EventData } from '../../../schema/events.ts'
import type { Language } from '../../../schema/languages.ts'
import { recentlyUsed } from '../../db/queries/caches.ts'
import {
  type AppState,
  type ClientHints,
  type ClientKeys,
  type ClosedState,
  clientKeysOf,
  type GateDecision,
  type IsSignatureValid,
} from '../../http/auth/gate.ts'
import { bearerToken } from '../../http/auth/tokens.ts'
import { languageOf } from '../../language/request-language.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'
import { AccessPolicy, type Client, clientTypeIn, clientVersionIn, toClient } from './access-policy.ts'
import type { CachedClient, ClientRegistry } from './client-registry.ts'
import { defaultMode } from './mode.ts'
import { parseVersion } from './version.ts'

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
    // The keys are needed only where the client does not say enough.
    if (isWhole(client) || this.#mayPass(client)) return this.#refusalFor(client, language)
    return this.#refusalByKeys(client, this.#keys.of(request.headers.authorization, isSignatureValid), language)
  }

  readonly check = ({ type, version, language, keys }: ClientHints): GateDecision => {
    const { maintenance, dependsOnClient } = this.#policy
    if (maintenance !== null) return maintenance[language]
    if (!dependsOnClient) return undefined
    const client = toClient(type, version)
    if (isWhole(client) || this.#mayPass(client)) return this.#refusalFor(client, () => language)
    return this.#refusalByKeys(client, keys, () => language)
  }

  #refusalFor(client: Client | null, language: () => Language): ClosedState | undefined {
    const { maintenance } = this.#policy
    return (maintenance ?? this.#policy.refusalFor(client))?.[language()]
  }

  /** Whether a client that shows a type without a version passes whatever its version is. */
  #mayPass(client: Client | null): boolean {
    return client !== null && this.#policy.refusalFor(client) === null
  }

  /** Decides about a client that shows no version, by what is stored for its token, else for its user. */
  #refusalByKeys(shown: Client | null, keys: ClientKeys | null, language: () => Language): GateDecision {
    if (keys === null) return this.#refusalFor(shown, language)
    const known = this.#storedFor(keys)
    if (known !== undefined) {
      const client = completed(shown, known.client)
      const refused = this.#policy.refusalFor(client) !== null
      if (known.client !== null && !refused) return undefined
      if (performance.now() - known.at < (refused ? MAX_REFUSAL_AGE_MS : MAX_UNKNOWN_AGE_MS)) {
        return this.#refusalFor(client, language)
      }
    }
    const asked = keys.user === null ? [keys.token] : [keys.token, keys.user]
    const loads = asked.map((key) => this.#registry.load(key))
    return Promise.all(loads).then(() =>
      this.#refusalFor(completed(shown, this.#storedFor(keys)?.client ?? null), language),
    )
  }

  /** What is stored for a token, or else for its user; undefined while one that counts is not cached. */
  #storedFor({ token, user }: ClientKeys): CachedClient | undefined {
    const byToken = this.#registry.get(token)
    if (byToken === undefined || byToken.client !== null || user === null) return byToken
    const byUser = this.#registry.get(user)
    return byUser && { client: byUser.client, at: Math.min(byToken.at, byUser.at) }
  }

  readonly hintsOf = (request: FastifyRequest): Omit<ClientHints, 'keys'> => ({
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
    const keys = this.#keys.of(request.headers.authorization, isSignatureValid)
    if (keys !== null && mayRemember()) {
      this.#registry.record(keys.token, withReadableVersion(client))
      if (keys.user !== null) this.#registry.record(keys.user, withReadableVersion(client))
    }
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

/** Whether a client shows a version, so that nothing stored for it counts. */
const isWhole = (client: Client | null): boolean => client !== null && client.version !== null

/** What a client shows, with the version that is stored for it. */
const completed = (shown: Client | null, stored: Client | null): Client | null =>
  shown === null ? stored : { type: shown.type, version: stored?.version ?? null }

/** Cached `Authorization` headers; the least recently used one is evicted. */
const MAX_CACHED_HEADERS = 20_000

/**
 * Keys of tokens with a valid signature, cached by header: without this cache the gate would check the signature of every
 * request once more.
 */
class TokenKeys {
  readonly #keys = recentlyUsed<string, ClientKeys>(MAX_CACHED_HEADERS)

  /** The keys of the header's token; null without a validly signed token. */
  of(authorization: string | undefined, isSignatureValid: IsSignatureValid): ClientKeys | null {
    if (authorization === undefined) return null
    const cached = this.#keys.get(authorization)
    if (cached !== undefined) return cached
    const token = bearerToken(authorization)
    if (token === undefined || !isSignatureValid(token)) return null
    const keys = clientKeysOf(token)
    this.#keys.set(authorization, keys)
    return keys
  }
}
