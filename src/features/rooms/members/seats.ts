import type { LedgerEvent } from '../../../ledger/rules/event.ts'
import type { Key, State } from '../../../ledger/rules/projection.ts'

/** Seats of members in the open game of their room; another slice provides them. */
export interface Seats {
  /** The rows that tell whether a user is seated, and where the refund would go. */
  readonly keys: (state: State, roomId: number, userId: number) => readonly Key[]
  /** The event by which the user gets the stake back and gives up the seat; undefined without a seat. */
  readonly refund: (state: State, roomId: number, userId: number) => LedgerEvent | undefined
}
