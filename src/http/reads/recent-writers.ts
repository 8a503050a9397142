const WINDOW_MS = 10_000

/** Who wrote within the last 10 seconds, by actor, such as `user:7`. */
export class RecentWriters {
  readonly #now: () => number
  /** By the time of the last write, which is the value, oldest first. */
  readonly #lastWrites = new Map<string, number>()

  /** `now` is in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  note(actor: string): void {
    const now = this.#now()
    this.#lastWrites.delete(actor)
    this.#lastWrites.set(actor, now)
    for (const [other, at] of this.#lastWrites) {
      if (now - at < WINDOW_MS) return
      this.#lastWrites.delete(other)
    }
  }

  has(actor: string): boolean {
    const at = this.#lastWrites.get(actor)
    return at !== undefined && this.#now() - at < WINDOW_MS
  }
}
