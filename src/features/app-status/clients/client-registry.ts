import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log } from '../../../db/log.ts'
import type { Client } from '../access-policy.ts'
import { type ClientsByKey, deleteExpiredClients, findClients, findRecentClients, saveClients } from './client-rows.ts'

/** Tokens whose clients are known here; the one that was learned of first makes room. */
const MAX_CACHED_CLIENTS = 100_000
/** Tokens whose clients wait to be written, or to be looked up. */
const MAX_PENDING = 10_000
/** Rows of one statement. */
const MAX_ROWS_PER_WRITE = 1_000
/** Between two writes, so that many of them go together. */
const WRITE_INTERVAL_MS = 20
/** How often instances ask what was told to the others. */
const POLL_INTERVAL_MS = 250
/** They ask for more than that, since a row is seen a moment after its time. */
const POLL_WINDOW_MS = 2_000
/** How long a request may wait for what its token is known for. */
const LOOKUP_TIMEOUT_MS = 1_000
const RETRY_DELAY_MS = 1_000
const CLEANUP_INTERVAL_MS = 3_600_000

/** What is known of a token: `client` is null when nothing was told with it. */
export interface CachedClient {
  readonly client: Client | null
  /** When the database said so, as `performance.now()` tells it. */
  readonly at: number
}

interface PendingLookup {
  readonly found: Promise<void>
  readonly done: () => void
}

/**
 * What the holders of tokens last told of their app. It stands in the database, for all instances and over restarts;
 * here is what this instance has needed of it. What is told is known here at once and written soon after; what was told
 * to other instances arrives within a moment, for tokens that are known here, and is looked up for others.
 */
export class ClientRegistry {
  readonly #pool: Pool
  readonly #log: Log
  readonly #cache = new Map<string, CachedClient>()
  /** Told here and not written yet. */
  readonly #pendingWrites = new Map<string, Client>()
  #pendingLookups = new Map<string, PendingLookup>()
  #writing: Promise<void> | undefined
  #isLookingUp = false
  #isPolling = false
  #lastPollAt = performance.now()
  #isStopped = false
  #isFailing = false
  #timers: readonly NodeJS.Timeout[] = []

  constructor(pool: Pool, log: Log) {
    this.#pool = pool
    this.#log = log
  }

  start(): void {
    this.#timers = [
      setInterval(() => void this.#poll(), POLL_INTERVAL_MS),
      setInterval(() => void deleteExpiredClients(this.#pool).catch(this.#logFailure), CLEANUP_INTERVAL_MS),
    ]
  }

  /** Writes what is not written yet, if the database takes it now. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#writing
    if (this.#pendingWrites.size > 0) await saveClients(this.#pool, this.#pendingWrites).catch(this.#logFailure)
  }

  /** Undefined for a token that has to be looked up. */
  get(key: string): CachedClient | undefined {
    return this.#cache.get(key)
  }

  /** The holder of a token told what their app is. */
  record(key: string, client: Client): void {
    this.#cacheClient(key, client)
    if (this.#pendingWrites.size >= MAX_PENDING) dropOldest(this.#pendingWrites)
    this.#pendingWrites.set(key, client)
    this.#writing ??= this.#writePending().finally(() => (this.#writing = undefined))
  }

  /** Asks the database for a token; then `known` tells. Leaves it at that when the database does not answer in time. */
  async load(key: string): Promise<void> {
    let lookUp = this.#pendingLookups.get(key)
    if (lookUp === undefined) {
      if (this.#pendingLookups.size >= MAX_PENDING) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#pendingLookups.set(key, (lookUp = { found: promise, done: resolve }))
      void this.#loadPending()
    }
    const { done } = lookUp
    const timeout = setTimeout(done, LOOKUP_TIMEOUT_MS)
    await lookUp.found
    clearTimeout(timeout)
  }

  /** One query at a time, for all who asked meanwhile. */
  async #loadPending(): Promise<void> {
    if (this.#isLookingUp) return
    this.#isLookingUp = true
    while (this.#pendingLookups.size > 0) {
      const lookups = this.#pendingLookups
      this.#pendingLookups = new Map()
      const keys = [...lookups.keys()]
      try {
        const found = await findClients(this.#pool, keys)
        for (const key of keys) this.#cacheStored(key, found.get(key) ?? null)
      } catch (error) {
        this.#logFailure(error)
      }
      for (const { done } of lookups.values()) done()
    }
    this.#isLookingUp = false
  }

  async #writePending(): Promise<void> {
    while (this.#pendingWrites.size > 0 && !this.#isStopped) {
      const batch: ClientsByKey = new Map([...this.#pendingWrites].slice(0, MAX_ROWS_PER_WRITE))
      try {
        await saveClients(this.#pool, batch)
        for (const [key, client] of batch) if (this.#pendingWrites.get(key) === client) this.#pendingWrites.delete(key)
        await sleep(WRITE_INTERVAL_MS)
      } catch (error) {
        this.#logFailure(error)
        await sleep(RETRY_DELAY_MS)
      }
    }
  }

  /** Learns what was told to other instances. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    const startedAt = performance.now()
    try {
      const recent = await findRecentClients(this.#pool, POLL_WINDOW_MS)
      // After a longer silence some of it was missed: everything is looked up again.
      if (startedAt - this.#lastPollAt > POLL_WINDOW_MS / 2) this.#cache.clear()
      this.#lastPollAt = startedAt
      this.#isFailing = false
      for (const [key, client] of recent) if (this.#cache.has(key)) this.#cacheStored(key, client)
    } catch (error) {
      this.#logFailure(error)
    } finally {
      this.#isPolling = false
    }
  }

  /** What the database says; what was told here meanwhile is newer. */
  #cacheStored(key: string, client: Client | null): void {
    this.#cacheClient(key, this.#pendingWrites.get(key) ?? client)
  }

  #cacheClient(key: string, client: Client | null): void {
    if (this.#cache.size >= MAX_CACHED_CLIENTS && !this.#cache.has(key)) dropOldest(this.#cache)
    this.#cache.set(key, { client, at: performance.now() })
  }

  /** Told once, until the database has answered again. */
  readonly #logFailure = (err: unknown): void => {
    if (!this.#isFailing) {
      this.#log.warn({ err }, 'what clients told of themselves could not be written or read; trying again')
    }
    this.#isFailing = true
  }
}

function dropOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
