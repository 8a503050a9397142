import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { databaseIsAway } from '../../db/connection-errors.ts'
import { queryByIds } from '../../db/query-batch.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import { frameText, stateBody } from '../channels/channel-message.ts'
import { userChannel } from '../channels/channel-names.ts'
import { framed } from '../sockets/framing.ts'
import type { LiveQuery } from './frame-mapper.ts'

/** Users whose state is read at a time. */
const MAX_USERS_PER_QUERY = 200
/** After a failure; each further one of the same user's doubles it. */
const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 30_000
/** While the database is away, nobody's state is at fault. */
const MAX_DATABASE_RETRY_MS = 2_000

/** A socket of the user whose state it is. */
export interface StateReceiver {
  pushState(frames: Buffer): void
}

export interface StatePusherParts {
  readonly db: Kysely<Tables>
  /** Whether anybody has a socket on this instance. */
  readonly hasConnections: () => boolean
  /** The sockets of a user on this instance. */
  readonly connectionsOf: (userId: number) => ReadonlySet<StateReceiver> | undefined
  /** How far the ledger has been heard by those viewers. */
  readonly position: () => number
  readonly onError: (error: unknown) => void
}

interface Retry {
  readonly failures: number
  /** As `performance.now()` tells it. */
  readonly at: number
}

/**
 * Shows users their own state when it has changed: however often it did meanwhile, once, as it is then. State that
 * cannot be read is tried again, less and less often, for as long as the user has a socket, and delays nobody else's.
 */
export class StatePusher {
  readonly #query: LiveQuery
  readonly #parts: StatePusherParts
  readonly #changed = new Set<number>()
  /** Users whose state could not be read. */
  readonly #retries = new Map<number, Retry>()
  #retryTimer: NodeJS.Timeout | undefined
  #databaseFailures = 0
  #isReading = false
  #isStopped = false

  constructor(state: LiveQuery, parts: StatePusherParts) {
    this.#query = state
    this.#parts = parts
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (!this.#parts.hasConnections()) return
    for (const event of events) {
      for (const userId of this.#changedBy(event)) {
        if (this.#parts.connectionsOf(userId) !== undefined) this.#changed.add(userId)
      }
    }
    this.#start()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#retryTimer)
  }

  #start(): void {
    if (this.#changed.size > 0 && !this.#isReading && !this.#isStopped) void this.#read()
  }

  #changedBy(event: StoredEvent): readonly number[] {
    try {
      return this.#query.changedBy(event)
    } catch (error) {
      this.#parts.onError(error)
      return []
    }
  }

  async #read(): Promise<void> {
    this.#isReading = true
    while (this.#changed.size > 0 && !this.#isStopped) {
      const users = [...this.#changed].slice(0, MAX_USERS_PER_QUERY)
      for (const userId of users) this.#changed.delete(userId)
      const isDatabaseDown = await this.#readStates(users.filter((userId) => this.#mayRead(userId)))
      this.#databaseFailures = isDatabaseDown ? this.#databaseFailures + 1 : 0
      if (isDatabaseDown) await sleep(Math.min(MAX_DATABASE_RETRY_MS, retryDelayMs(this.#databaseFailures)))
    }
    this.#isReading = false
  }

  /** Whether the user has a socket and is not waiting for a retry, which reads all that changes meanwhile. */
  #mayRead(userId: number): boolean {
    if (this.#parts.connectionsOf(userId) === undefined) {
      this.#retries.delete(userId)
      return false
    }
    return (this.#retries.get(userId)?.at ?? 0) <= performance.now()
  }

  /** Answers whether the database is away: then all these are due again. */
  async #readStates(users: readonly number[]): Promise<boolean> {
    if (users.length === 0) return false
    // What is read is at least as new as that.
    const position = this.#parts.position()
    const { found, failed } = await queryByIds(users, (ids) => this.#query.read(this.#parts.db, ids))
    let isDatabaseDown = false
    for (const [userId, error] of failed) {
      if (databaseIsAway(error)) {
        this.#changed.add(userId)
        if (!isDatabaseDown) this.#parts.onError(error)
        isDatabaseDown = true
      } else {
        this.#parts.onError(error)
        this.#retryLater(userId)
      }
    }
    for (const userId of users) if (!failed.has(userId)) this.#retries.delete(userId)
    for (const [userId, state] of found) this.#push(userId, position, state)
    return isDatabaseDown
  }

  #retryLater(userId: number): void {
    const failures = (this.#retries.get(userId)?.failures ?? 0) + 1
    this.#retries.set(userId, { failures, at: performance.now() + retryDelayMs(failures) })
    this.#retryTimer ??= setTimeout(() => this.#retry(), MIN_RETRY_MS)
  }

  /** Reads again what is due. */
  #retry(): void {
    this.#retryTimer = undefined
    const now = performance.now()
    for (const [userId, { at }] of this.#retries) {
      if (this.#parts.connectionsOf(userId) === undefined) this.#retries.delete(userId)
      else if (at <= now) this.#changed.add(userId)
    }
    if (this.#retries.size > 0 && !this.#isStopped) this.#retryTimer = setTimeout(() => this.#retry(), MIN_RETRY_MS)
    this.#start()
  }

  #push(userId: number, position: number, state: object): void {
    const receivers = this.#parts.connectionsOf(userId)
    if (receivers === undefined) return
    const frames = framed([frameText(userChannel(userId), stateBody(this.#query.event, position, state))])
    for (const viewer of receivers) viewer.pushState(frames)
  }
}

/** The wait after so many failures in a row. */
const retryDelayMs = (failures: number): number =>
  Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(failures - 1, 20))
