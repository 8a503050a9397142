import { BatchedLookup } from './batched-lookup.ts'

/** How many may share one load. */
const MAX_SHARED = 1_000

/**
 * The result of a read that seldom changes, kept in memory until it is invalidated. A load in progress at an invalidation
 * is not kept: it may have read the former state.
 */
export class CachedRead<Value> {
  readonly #loads: BatchedLookup<null, Value>
  #cached: { readonly value: Value } | undefined
  #invalidations = 0

  constructor(load: () => Promise<Value>) {
    this.#loads = new BatchedLookup(MAX_SHARED, (callers: readonly null[]) =>
      load().then((value) => callers.map(() => value)),
    )
  }

  /** From memory; from the database after an invalidation. */
  current(): Promise<Value> {
    return this.#cached === undefined ? this.#load() : Promise.resolve(this.#cached.value)
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
    if (before === this.#invalidations) this.#cached = { value }
    return value
  }
}
