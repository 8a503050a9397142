import { queryBatch } from './query-batch.ts'

interface Pending<Key, Value> {
  readonly key: Key
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

/**
 * Loads keys that are requested together with one query: those that come while a query runs go with the next one. A key
 * never joins a query that has started, so that a read after a commit sees it. A key that cannot be loaded fails alone.
 */
export class BatchedLookup<Key, Value> {
  readonly #maxKeys: number
  readonly #query: (keys: readonly Key[]) => Promise<readonly Value[]>
  readonly #queue: Pending<Key, Value>[] = []
  #running = false

  /** `query` gets at most `maxKeys` keys, some of which may be the same, and returns their values in that order. */
  constructor(maxKeys: number, query: (keys: readonly Key[]) => Promise<readonly Value[]>) {
    this.#maxKeys = maxKeys
    this.#query = query
  }

  load(key: Key): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ key, resolve, reject })
      if (!this.#running) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#running = true
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, this.#maxKeys)
      const results = await queryBatch(
        batch.map(({ key }) => key),
        this.#query,
      )
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = results[i]
        if (result?.status === 'fulfilled') resolve(result.value)
        else reject(result?.reason)
      }
    }
    this.#running = false
  }
}
