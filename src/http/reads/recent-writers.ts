const WINDOW_MS = 10_000

interface LastWrite {
  /** In milliseconds. */
  readonly at: number
  readonly position: number
}

/** Who may have written what a standby does not have, by actor, such as `user:7`. */
export class RecentWriters {
  readonly #now: () => number
  /** By the time of the last write, oldest first. */
  readonly #lastWrites = new Map<string, LastWrite>()
  /** The last position of those that were written more than 10 seconds ago. */
  #position = 0

  /** `now` is in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** An actor has just written; the event is at `position` or before. */
  record(actor: string, position: number): void {
    const before = this.#lastWrites.get(actor)?.position ?? 0
    this.#lastWrites.delete(actor)
    this.#lastWrites.set(actor, { at: this.#now(), position: Math.max(before, position) })
    this.#expire()
  }

  /**
   * Whether a standby may lack what an actor wrote: when that was within the last 10 seconds, and whenever the standby is
   * before the position of a write that is older.
   */
  mayLack(actor: string, standbyPosition: number): boolean {
    this.#expire()
    return this.#lastWrites.has(actor) || standbyPosition < this.#position
  }

  #expire(): void {
    const now = this.#now()
    for (const [actor, { at, position }] of this.#lastWrites) {
      if (now - at < WINDOW_MS) return
      this.#lastWrites.delete(actor)
      this.#position = Math.max(this.#position, position)
    }
  }
}
