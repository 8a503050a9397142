import type { EventType } from '../../../schema/events.ts'
import type { PositionedEvent } from '../rules/event.ts'
import type { incarnations } from '../rules/incarnation.ts'
import type { RowOf } from '../rules/projection.ts'
import type { Tail } from './tail.ts'

/** How long a read may wait for a position. */
const MAX_WAIT_MS = 250

interface Waiter {
  readonly position: number
  readonly resolve: () => void
}

/**
 * How much of the ledger this instance's memory takes into account: every event up to `position`. Events committed here
 * are applied before their commands are answered, those of other instances as soon as the tail has read them.
 */
export class AppliedEvents {
  readonly incarnation: CurrentIncarnation
  #position: number
  /** Where the ledger ends, from the database; never from before the call. */
  readonly #head: () => Promise<number>
  readonly #listeners = new Map<EventType, (() => void)[]>()
  readonly #waiting = new Set<Waiter>()
  #tail: Pick<Tail, 'pollUpTo'> | undefined

  /** Whatever is kept in memory must be read after `position` was. */
  constructor(position: number, head: () => Promise<number>, incarnation: CurrentIncarnation) {
    this.#position = position
    this.incarnation = incarnation
    this.#head = head
  }

  get position(): number {
    return this.#position
  }

  /** Calls back when an event of these types is applied. */
  on(types: readonly EventType[], listener: () => void): void {
    for (const type of types) this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  /** Applies what other instances commit, too, after `before` has. */
  follow(tail: Pick<Tail, 'subscribe' | 'pollUpTo'>, before: (events: readonly PositionedEvent[]) => void): void {
    this.#tail = tail
    tail.subscribe(this.#position, (events) => {
      before(events)
      this.apply(events)
    })
  }

  /** Applies committed events, in the order of the ledger, if not all of them. Those that it already has cost nothing. */
  apply(events: readonly PositionedEvent[]): void {
    const first = events[0]
    const last = events.at(-1)
    if (first === undefined || last === undefined || last.position <= this.#position) return
    for (const event of events) {
      if (event.position <= this.#position) continue
      this.incarnation.apply(event)
      this.#listeners.get(event.type)?.forEach((listener) => listener())
    }
    // Some events are missing, after which the tail brings these again.
    if (first.position > this.#position + 1 || last.position - first.position >= events.length) return
    this.#position = last.position
    for (const waiter of this.#waiting) if (waiter.position <= this.#position) waiter.resolve()
  }

  /**
   * Waits until everything up to a position is applied. False when that takes too long; a position beyond the ledger is
   * not waited for, nor is any while the database cannot be asked.
   */
  reach(position: number): Promise<boolean> {
    if (position <= this.#position) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = (isReached: boolean): void => {
        clearTimeout(timeout)
        this.#waiting.delete(waiter)
        resolve(isReached)
      }
      const timeout = setTimeout(() => settle(false), MAX_WAIT_MS)
      const waiter = { position, resolve: () => settle(true) }
      this.#waiting.add(waiter)
      this.#head().then(
        (head) => (head < position ? settle(true) : this.#tail?.pollUpTo(position)),
        () => settle(true),
      )
    })
  }
}

/** How long after a restore nobody may have come back yet who does not name the incarnation of a position. */
const UNNAMED_POSITIONS_MS = 24 * 3_600_000

export type BegunIncarnation = Pick<RowOf<typeof incarnations>, 'incarnation' | 'position' | 'began_at'>

/** The ledger's incarnation, as far as this instance knows the ledger: what positions of clients belong to. */
export class CurrentIncarnation {
  #begun: BegunIncarnation | undefined

  /** Undefined on a ledger without events. */
  constructor(begun: BegunIncarnation | undefined) {
    this.#begun = begun
  }

  /** Undefined before the first event. */
  get name(): string | undefined {
    return this.#begun?.incarnation
  }

  apply({ type, data, position, at }: PositionedEvent): void {
    if (type !== 'ledger-opened' && type !== 'ledger-restored') return
    this.#begun = { incarnation: data.incarnation, position, began_at: at }
  }

  /**
   * Whether a position that a client has means the same now; it names the incarnation that it has it from. Without a name
   * that is taken to be so, except on the day after commits were lost.
   */
  accepts(name: string | undefined): boolean {
    if (name !== undefined) return name === this.name
    if (this.#begun === undefined || this.#begun.position === 1) return true
    return Date.now() - this.#begun.began_at / 1_000 >= UNNAMED_POSITIONS_MS
  }
}
