import type { StoredEvent } from '../storage/event-hash.ts'

/** Events that are kept for whoever is a little behind. */
const MAX_KEPT_EVENTS = 1_000

/**
 * What of the ledger was read last, for all who follow it. Only what one of them has yet to take is kept: whatever lives
 * for a second ends up among what the garbage collector seldom looks at, and fills the memory long after it is gone.
 */
export class EventBuffer {
  #events: readonly StoredEvent[] = []
  #position = 0
  /** By follower, the last position that it is done with. */
  readonly #acknowledged = new Map<unknown, number>()

  /** The last position that was read. */
  get position(): number {
    return this.#position
  }

  /** Takes what is new of the events; false when something before it is missing. */
  append(events: readonly StoredEvent[]): boolean {
    const [next, ...others] = events.filter(({ position }) => position > this.#position)
    if (next === undefined) return true
    if (next.position !== this.#position + 1) return false
    const follows = this.#events.at(-1)?.position === this.#position
    this.#events = [...(follows ? this.#unacknowledged() : []), next, ...others]
    this.#position = others.at(-1)?.position ?? next.position
    return true
  }

  /** What comes next is what follows this position, which is beyond what was read. */
  seek(position: number): void {
    this.#position = position
  }

  /** The follower is done with all up to this position. */
  acknowledge(follower: unknown, position: number): void {
    this.#acknowledged.set(follower, position)
  }

  /** The follower is no more. */
  unsubscribe(follower: unknown): void {
    this.#acknowledged.delete(follower)
  }

  /** What was read after a position; undefined when that is nothing, or when it is not all here any more. */
  after(position: number): readonly StoredEvent[] | undefined {
    const first = this.#events[0]
    const last = this.#events.at(-1)
    if (first === undefined || last === undefined) return undefined
    if (position < first.position - 1 || position >= last.position) return undefined
    return position === first.position - 1 ? this.#events : this.#events.slice(position - first.position + 1)
  }

  #unacknowledged(): readonly StoredEvent[] {
    const slowest = Math.min(...this.#acknowledged.values())
    const behind = Math.min(this.#position - slowest, MAX_KEPT_EVENTS)
    return behind > 0 ? this.#events.slice(-behind) : []
  }
}
