import { LRUCache } from 'lru-cache'
import { SingleFlight } from '../async.ts'
import { BatchedLookup } from './batched-lookup.ts'

/** How many may share one load. */
const MAX_SHARED = 1_000
/** A rebuild changes tables without an event. */
const MAX_AGE_MS = 60_000

/** A read that several callers share: those that ask in one turn of the event loop, or while a load runs, the next one. */
export function sharedRead<Value>(load: () => Promise<Value>): () => Promise<Value> {
  const loads = new BatchedLookup(MAX_SHARED, (callers: readonly null[]) =>
    load().then((value) => callers.map(() => value)),
  )
  return () => loads.load(null)
}

/**
 * The result of a read that seldom changes, kept in memory until it is invalidated. A load in progress at an invalidation
 * is not kept: it may have read the former state.
 */
export class CachedRead<Value> {
  readonly #read: () => Promise<Value>
  /** `loadedAt` by `performance.now()`. */
  #cached: { readonly value: Value; readonly loadedAt: number } | undefined
  #isReloading = false
  #invalidations = 0

  constructor(load: () => Promise<Value>) {
    this.#read = sharedRead(load)
  }

  /** From memory; from the database after an invalidation. What is older than a minute is loaded again meanwhile. */
  current(): Promise<Value> {
    const cached = this.#cached
    if (cached === undefined) return this.#load()
    if (performance.now() - cached.loadedAt > MAX_AGE_MS) void this.#reload()
    return Promise.resolve(cached.value)
  }

  /** From the database; from memory when that cannot be read. */
  async refresh(): Promise<Value> {
    try {
      return await this.#load()
    } catch (error) {
      if (this.#cached === undefined) throw error
      return this.#cached.value
    }
  }

  invalidate(): void {
    this.#cached = undefined
    this.#invalidations += 1
  }

  async #load(): Promise<Value> {
    const before = this.#invalidations
    const value = await this.#read()
    if (before === this.#invalidations) this.#cached = { value, loadedAt: performance.now() }
    return value
  }

  async #reload(): Promise<void> {
    if (this.#isReloading) return
    this.#isReloading = true
    try {
      await this.refresh()
    } catch {
      // Invalidated meanwhile: the next read loads it.
    } finally {
      this.#isReloading = false
    }
  }
}

const MIN_TTL_MS = 1_000
const MAX_TTL_MS = 5_000
/** A read that takes long is kept for so many times as long, so that reading again and again does not fill the time. */
const TTL_RATIO = 100

/** A read of what changes all the time, for many who look at it: one runs at a time, and its value is kept for seconds. */
export class RecentRead<Value> {
  readonly #now: () => number
  readonly #reads: SingleFlight<Value>
  #latest: { readonly value: Value; readonly expiresAt: number } | undefined

  /** `now` in milliseconds. */
  constructor(read: () => Promise<Value>, now = () => performance.now()) {
    this.#now = now
    this.#reads = new SingleFlight(() => this.#time(read))
  }

  current(): Promise<Value> {
    const latest = this.#latest
    return latest !== undefined && this.#now() < latest.expiresAt ? Promise.resolve(latest.value) : this.#reads.run()
  }

  async #time(read: () => Promise<Value>): Promise<Value> {
    const began = this.#now()
    const value = await read()
    const ended = this.#now()
    const ttlMs = Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, TTL_RATIO * (ended - began)))
    this.#latest = { value, expiresAt: ended + ttlMs }
    return value
  }
}

/**
 * What was used last of many keys. It takes room as it fills: a cache with `max` sets all of it aside when it is made, which
 * for a handful of them took 60 to 90 of the 270 ms in which the HTTP layer is made (means of 30).
 */
export const recentlyUsed = <Key extends string | number, Value extends object | number>(
  most: number,
): LRUCache<Key, Value> => new LRUCache({ maxSize: most, sizeCalculation: () => 1 })
