import { BatchedLookup } from './batched-lookup.ts'

/** How many may share one load. */
const MAX_SHARED = 1_000
/** A rebuild changes tables without an event. */
const MAX_AGE_MS = 60_000

/**
 * The result of a read that seldom changes, kept in memory until it is invalidated. A load in progress at an invalidation
 * is not kept: it may have read the former state.
 */
export class CachedRead<Value> {
  readonly #loads: BatchedLookup<null, Value>
  /** `loadedAt` by `performance.now()`. */
  #cached: { readonly value: Value; readonly loadedAt: number } | undefined
  #isReloading = false
  #invalidations = 0

  constructor(load: () => Promise<Value>) {
    this.#loads = new BatchedLookup(MAX_SHARED, (callers: readonly null[]) =>
      load().then((value) => callers.map(() => value)),
    )
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
    const value = await this.#loads.load(null)
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
