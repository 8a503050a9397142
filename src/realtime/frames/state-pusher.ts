import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { isConnectionError } from '../../db/postgres-errors.ts'
import { queryByIds } from '../../db/queries/batched-lookup.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import { frameText, stateBody } from '../channels/channel-message.ts'
import { encodeFrames } from '../sockets/socket-writer.ts'
import { type LiveQuery, userChannel } from './frame-mapper.ts'

const MAX_USERS_PER_QUERY = 200
/** Delay after a user's state could not be read; it doubles with each further failure of the same user. */
const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 30_000
/** While the database is unreachable, no user's state is at fault. */
const MAX_DATABASE_RETRY_MS = 2_000

/** A connection of the user whose state it is. */
interface StateReceiver {
  pushState(frames: Buffer): void
}

export interface StatePusherParts {
  readonly db: Kysely<Tables>
  /** What addresses of pictures begin with. */
  readonly assetBaseUrl: () => string
  /** Whether this instance has any connection. */
  readonly hasConnections: () => boolean
  /** A user's connections on this instance; undefined when there are none. */
  readonly connectionsOf: (userId: number) => ReadonlySet<StateReceiver> | undefined
  /** The position that those connections have received. */
  readonly position: () => number
  readonly onError: (error: unknown) => void
}

interface Retry {
  readonly failures: number
  /** When to read again, by `performance.now()`. */
  readonly at: number
}

/**
 * Pushes the result of a live query to users after it may have changed. Changes during a read lead to one further read.
 * A user whose state cannot be read is retried less and less often while connected, and delays no other user.
 */
export class StatePusher {
  readonly #query: LiveQuery
  readonly #parts: StatePusherParts
  readonly #changed = new Set<number>()
  readonly #retries = new Map<number, Retry>()
  #retryTimer: NodeJS.Timeout | undefined
  #databaseFailures = 0
  #isReading = false
  #isStopped = false

  constructor(query: LiveQuery, parts: StatePusherParts) {
    this.#query = query
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
    if (this.#changed.size > 0 && !this.#isReading && !this.#isStopped) void this.#readChanged()
  }

  #changedBy(event: StoredEvent): readonly number[] {
    try {
      return this.#query.changedBy(event)
    } catch (error) {
      this.#parts.onError(error)
      return []
    }
  }

  async #readChanged(): Promise<void> {
    this.#isReading = true
    while (this.#changed.size > 0 && !this.#isStopped) {
      const users = [...this.#changed].slice(0, MAX_USERS_PER_QUERY)
      for (const userId of users) this.#changed.delete(userId)
      const isDatabaseDown = await this.#pushStates(users.filter((userId) => this.#isDue(userId)))
      this.#databaseFailures = isDatabaseDown ? this.#databaseFailures + 1 : 0
      if (isDatabaseDown) await sleep(Math.min(MAX_DATABASE_RETRY_MS, retryDelayMs(this.#databaseFailures)))
    }
    this.#isReading = false
  }

  /** Whether to read now: the user is connected and no retry is pending, which would read this change too. */
  #isDue(userId: number): boolean {
    if (this.#parts.connectionsOf(userId) === undefined) {
      this.#retries.delete(userId)
      return false
    }
    return (this.#retries.get(userId)?.at ?? 0) <= performance.now()
  }

  /** Returns whether the database is unreachable; all these users are then read again. */
  async #pushStates(users: readonly number[]): Promise<boolean> {
    if (users.length === 0) return false
    // Taken before the read, so that the state is at least as new.
    const position = this.#parts.position()
    const { found, failed } = await queryByIds(users, (ids) =>
      this.#query.read(this.#parts.db, ids, this.#parts.assetBaseUrl()),
    )
    let isDatabaseDown = false
    for (const [userId, error] of failed) {
      if (isConnectionError(error)) {
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
    this.#retryTimer ??= setTimeout(() => this.#retryDue(), MIN_RETRY_MS)
  }

  #retryDue(): void {
    this.#retryTimer = undefined
    const now = performance.now()
    for (const [userId, { at }] of this.#retries) {
      if (this.#parts.connectionsOf(userId) === undefined) this.#retries.delete(userId)
      else if (at <= now) this.#changed.add(userId)
    }
    if (this.#retries.size > 0 && !this.#isStopped) {
      this.#retryTimer = setTimeout(() => this.#retryDue(), MIN_RETRY_MS)
    }
    this.#start()
  }

  #push(userId: number, position: number, state: object): void {
    const receivers = this.#parts.connectionsOf(userId)
    if (receivers === undefined) return
    const frames = encodeFrames([frameText(userChannel(userId), stateBody(this.#query.event, position, state))])
    for (const receiver of receivers) receiver.pushState(frames)
  }
}

/** The delay after this many failures in a row. */
const retryDelayMs = (failures: number): number =>
  Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(failures - 1, 20))
