import type { Movement } from '../../../ledger/rules/event.ts'

/** Callbacks of the checks of draws, in the order of the ledger. */
export interface DrawObserver {
  /** The draw at a position does not match what was published before it. */
  readonly onFault: (position: number, message: string) => void
  /** An order was drawn; `r` is below the total weight of the odds table. */
  readonly onLuckyDraw: (oddsHash: string, r: number) => void
  /** A spin: the index of the winner among so many players. */
  readonly onSpin: (players: number, draw: number) => void
}

/** The movements of an event. */
export interface PaidAmounts {
  /** The amount from one account to another. */
  amountMoved(from: string, to: string): number
}

export const paidAmounts = (movements: readonly Movement[]): PaidAmounts => ({
  amountMoved: (from, to) =>
    movements.reduce((sum, { debit, credit, amount }) => (debit === from && credit === to ? sum + amount : sum), 0),
})
