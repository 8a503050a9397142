const MIN_TTL_MS = 1_000
const MAX_TTL_MS = 5_000
/** A read that takes long is kept for so many times as long, so that reading again and again does not fill the time. */
const TTL_RATIO = 100

/** A read of what changes all the time, for many who look at it: one runs at a time, and its value is kept for seconds. */
export class RecentRead<Value> {
  readonly #read: () => Promise<Value>
  readonly #now: () => number
  #latest: { readonly value: Value; readonly expiresAt: number } | undefined
  #reading: Promise<Value> | undefined

  /** `now` in milliseconds. */
  constructor(read: () => Promise<Value>, now = () => performance.now()) {
    this.#read = read
    this.#now = now
  }

  current(): Promise<Value> {
    const latest = this.#latest
    if (latest !== undefined && this.#now() < latest.expiresAt) return Promise.resolve(latest.value)
    this.#reading ??= this.#readAgain().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #readAgain(): Promise<Value> {
    const began = this.#now()
    const value = await this.#read()
    const ended = this.#now()
    const ttlMs = Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, TTL_RATIO * (ended - began)))
    this.#latest = { value, expiresAt: ended + ttlMs }
    return value
  }
}
