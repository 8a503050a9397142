import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'

/** Callbacks of the checks of draws, in the order of the ledger. */
export interface DrawObserver {
  /** The draw at a position does not match what was published before it. */
  readonly onFault: (position: number, message: string) => void
  /**
   * An order was drawn; `r` is below the total weight of the odds table. `announced`: the draw says that the commitment of
   * its chain was on the ledger before the send.
   */
  readonly onLuckyDraw: (oddsHash: string, r: number, announced: boolean) => void
  /** A spin: the index of the winner among so many players. */
  readonly onSpin: (players: number, draw: number) => void
}

/** The columns of an event that checks of draws read besides its data. */
export interface DrawColumns {
  /** The same for all events of a command. */
  readonly requestId: string
  /** The amount that the event moves from one account to another. */
  amountMoved(from: string, to: string): number
}

export const drawColumns = ({ requestId, movements }: Pick<LedgerEntry, 'requestId' | 'movements'>): DrawColumns => ({
  requestId,
  amountMoved: (from, to) =>
    movements.reduce((sum, { debit, credit, amount }) => (debit === from && credit === to ? sum + amount : sum), 0),
})
