import type { EventData, EventType } from '../../../schema/events.ts'
import type { Micros } from './time.ts'

/** Value that leaves one account and enters another; both accounts are of one currency. */
export interface Movement {
  readonly debit: string
  readonly credit: string
  /** Whole units (cents for dollars), 1 or more. */
  readonly amount: number
}

/** What a verb decided; not yet on the ledger. */
export type LedgerEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly type: K
    readonly data: EventData<K>
    readonly movements: readonly Movement[]
    /** Who asked for it, where that is not the caller: the maker of a proposal that the caller approves. */
    readonly actor?: string
  }
}[T]

/** An event with its position in the one global order and the database's time, which never goes back. */
export type PositionedEvent<T extends EventType = EventType> = LedgerEvent<T> & {
  readonly position: number
  readonly at: Micros
}

/** What evolvers see of an event: everything but its movements, which concern balances alone. */
export type EventWithoutMovements<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K>; readonly position: number; readonly at: Micros }
}[T]
