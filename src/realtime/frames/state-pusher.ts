import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { databaseIsAway } from '../../db/connection-errors.ts'
import { queryByIds } from '../../db/query-batch.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import { inChannel, stateBody } from '../channels/channel-message.ts'
import { userChannel } from '../channels/channel-names.ts'
import { framed } from '../sockets/framing.ts'
import type { ShownState } from './announcer.ts'

/** Users whose state is read at a time. */
const MOST = 200
/** After a failure; each further one of the same user's doubles it. */
const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 30_000
/** While the database is away, nobody's state is at fault. */
const MAX_OUTAGE_RETRY_MS = 2_000

/** A socket of the user whose state it is. */
export interface Viewer {
  show(frames: Buffer): void
}

export interface ShowerParts {
  readonly db: Kysely<Tables>
  /** Whether anybody has a socket on this instance. */
  readonly anyone: () => boolean
  /** The sockets of a user on this instance. */
  readonly viewers: (userId: number) => ReadonlySet<Viewer> | undefined
  /** How far the ledger has been heard by those viewers. */
  readonly position: () => number
  readonly trouble: (error: unknown) => void
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
export class Shower {
  readonly #state: ShownState
  readonly #parts: ShowerParts
  readonly #changed = new Set<number>()
  /** Users whose state could not be read. */
  readonly #retries = new Map<number, Retry>()
  #retryTimer: NodeJS.Timeout | undefined
  #outages = 0
  #reading = false
  #stopped = false

  constructor(state: ShownState, parts: ShowerParts) {
    this.#state = state
    this.#parts = parts
  }

  hear(events: readonly StoredEvent[]): void {
    if (!this.#parts.anyone()) return
    for (const event of events) {
      for (const userId of this.#changedBy(event)) {
        if (this.#parts.viewers(userId) !== undefined) this.#changed.add(userId)
      }
    }
    this.#start()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#retryTimer)
  }

  #start(): void {
    if (this.#changed.size > 0 && !this.#reading && !this.#stopped) void this.#read()
  }

  #changedBy(event: StoredEvent): readonly number[] {
    try {
      return this.#state.changedBy(event)
    } catch (error) {
      this.#parts.trouble(error)
      return []
    }
  }

  async #read(): Promise<void> {
    this.#reading = true
    while (this.#changed.size > 0 && !this.#stopped) {
      const users = [...this.#changed].slice(0, MOST)
      for (const userId of users) this.#changed.delete(userId)
      const isOut = await this.#readStates(users.filter((userId) => this.#mayRead(userId)))
      this.#outages = isOut ? this.#outages + 1 : 0
      if (isOut) await sleep(Math.min(MAX_OUTAGE_RETRY_MS, backOff(this.#outages)))
    }
    this.#reading = false
  }

  /** Whether the user has a socket and is not waiting for a retry, which reads all that changes meanwhile. */
  #mayRead(userId: number): boolean {
    if (this.#parts.viewers(userId) === undefined) {
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
    const { found, failed } = await queryByIds(users, (ids) => this.#state.read(this.#parts.db, ids))
    let isOut = false
    for (const [userId, error] of failed) {
      if (databaseIsAway(error)) {
        this.#changed.add(userId)
        if (!isOut) this.#parts.trouble(error)
        isOut = true
      } else {
        this.#parts.trouble(error)
        this.#retryLater(userId)
      }
    }
    for (const userId of users) if (!failed.has(userId)) this.#retries.delete(userId)
    for (const [userId, state] of found) this.#show(userId, position, state)
    return isOut
  }

  #retryLater(userId: number): void {
    const failures = (this.#retries.get(userId)?.failures ?? 0) + 1
    this.#retries.set(userId, { failures, at: performance.now() + backOff(failures) })
    this.#retryTimer ??= setTimeout(() => this.#retry(), MIN_RETRY_MS)
  }

  /** Reads again what is due. */
  #retry(): void {
    this.#retryTimer = undefined
    const now = performance.now()
    for (const [userId, { at }] of this.#retries) {
      if (this.#parts.viewers(userId) === undefined) this.#retries.delete(userId)
      else if (at <= now) this.#changed.add(userId)
    }
    if (this.#retries.size > 0 && !this.#stopped) this.#retryTimer = setTimeout(() => this.#retry(), MIN_RETRY_MS)
    this.#start()
  }

  #show(userId: number, position: number, state: object): void {
    const viewers = this.#parts.viewers(userId)
    if (viewers === undefined) return
    const frames = framed([inChannel(userChannel(userId), stateBody(this.#state.event, position, state))])
    for (const viewer of viewers) viewer.show(frames)
  }
}

/** The wait after so many failures in a row. */
const backOff = (failures: number): number => Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(failures - 1, 20))
