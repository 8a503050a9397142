/** Callers that got an error mostly try again: until then, a stall is not taken to be over. */
const RETRY_ALLOWANCE_MS = 3_000

/** Measures how long commands have been waiting without any of them being committed or answered by the rules. */
export class StallWatch {
  readonly #now: () => number
  /** Since when nothing was settled although a command came; `undefined` when none waits. */
  #since: number | undefined
  /** When the last commands that had waited got an error, by `#now`; `undefined` while commands wait. */
  #failedAt: number | undefined

  /** `now` is in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** In milliseconds; 0 when commands do not wait. */
  get stalledMs(): number {
    this.#expire()
    return this.#since === undefined ? 0 : this.#now() - this.#since
  }

  /** A command waits. */
  waiting(): void {
    if (this.#failedAt !== undefined) this.#expire()
    this.#since ??= this.#now()
    this.#failedAt = undefined
  }

  /** The database settled a batch, after which others may wait. */
  progressed(othersWait: boolean): void {
    this.#since = othersWait ? this.#now() : undefined
    this.#failedAt = undefined
  }

  /** A batch could not be committed, and no other command waits. */
  failed(): void {
    this.#failedAt = this.#now()
  }

  #expire(): void {
    if (this.#failedAt === undefined || this.#now() - this.#failedAt < RETRY_ALLOWANCE_MS) return
    this.#since = undefined
    this.#failedAt = undefined
  }
}
