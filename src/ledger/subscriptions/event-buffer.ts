import type { StoredEvent } from '../storage/event-hash.ts'

/** Events kept for subscribers that lag a little. */
const MAX_KEPT_EVENTS = 1_000

/**
 * The latest events read, shared by all subscribers. Keeps only what one of them has yet to take: objects that live for
 * a second are promoted to the old generation, which the garbage collector seldom visits, and fill the memory long
 * after they are gone.
 */
export class EventBuffer {
  #events: readonly StoredEvent[] = []
  #position = 0
  /** By subscriber, the last position that it has handled. */
  readonly #acknowledged = new Map<unknown, number>()

  /** The last position that was read. */
  get position(): number {
    return this.#position
  }

  /** Takes those of the events that are new; false when one before them is missing. */
  append(events: readonly StoredEvent[]): boolean {
    const [next, ...others] = events.filter(({ position }) => position > this.#position)
    if (next === undefined) return true
    if (next.position !== this.#position + 1) return false
    const isContiguous = this.#events.at(-1)?.position === this.#position
    this.#events = [...(isContiguous ? this.#unacknowledged() : []), next, ...others]
    this.#position = others.at(-1)?.position ?? next.position
    return true
  }

  /** The next event to append is the one after this position, which is beyond what was read. */
  seek(position: number): void {
    this.#position = position
  }

  /** The subscriber has handled everything up to this position. */
  acknowledge(subscriber: unknown, position: number): void {
    this.#acknowledged.set(subscriber, position)
  }

  unsubscribe(subscriber: unknown): void {
    this.#acknowledged.delete(subscriber)
  }

  /** The events after a position; undefined when there are none, or when they are not all here any more. */
  after(position: number): readonly StoredEvent[] | undefined {
    const first = this.#events[0]
    const last = this.#events.at(-1)
    if (first === undefined || last === undefined) return undefined
    if (position < first.position - 1 || position >= last.position) return undefined
    return position === first.position - 1 ? this.#events : this.#events.slice(position - first.position + 1)
  }

  #unacknowledged(): readonly StoredEvent[] {
    const slowest = Math.min(...this.#acknowledged.values())
    const kept = Math.min(this.#position - slowest, MAX_KEPT_EVENTS)
    return kept > 0 ? this.#events.slice(-kept) : []
  }
}
