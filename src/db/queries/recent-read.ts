import { BatchedLookup } from './batched-lookup.ts'

/** How many may share one read. */
const MAX_SHARED = 1_000
const MIN_AGE_MS = 1_000
/** One that takes long is kept for so many times as long, so that it takes a hundredth of the time at most. */
const AGE_RATIO = 100

/** A read of what changes all the time, for many who look at it: what was read last, while that is young. */
export class RecentRead<Value> {
  readonly #reads: BatchedLookup<null, Value>
  readonly #now: () => number
  #latest: { readonly value: Value; readonly keptUntil: number } | undefined

  /** `now` in milliseconds. */
  constructor(read: () => Promise<Value>, now = () => performance.now()) {
    this.#now = now
    this.#reads = new BatchedLookup<null, Value>(MAX_SHARED, async (askers) => {
      const began = now()
      const value: Value = await read()
      const ended = now()
      this.#latest = { value, keptUntil: ended + Math.max(MIN_AGE_MS, AGE_RATIO * (ended - began)) }
      return askers.map(() => value)
    })
  }

  current(): Promise<Value> {
    const latest = this.#latest
    return latest !== undefined && this.#now() < latest.keptUntil
      ? Promise.resolve(latest.value)
      : this.#reads.load(null)
  }
}
