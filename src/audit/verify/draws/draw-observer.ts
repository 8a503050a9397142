import type { Movement } from '../../../ledger/rules/event.ts'

/** Hears what came of checking draws, in the ledger's order. */
export interface DrawObserver {
  /** Something about the draw at a position does not follow from what was published before it. */
  readonly onFault: (position: number, message: string) => void
  /** A lucky order: the number drawn, below the sum of the weights of that odds table. */
  readonly onLuckyDraw: (oddsHash: string, r: number) => void
  /** A spin: which of so many players was drawn, from 0. */
  readonly onSpin: (players: number, draw: number) => void
}

/** What an event moved. */
export interface PaidAmounts {
  /** How much from one account to another. */
  amountMoved(from: string, to: string): number
}

export const paidAmounts = (movements: readonly Movement[]): PaidAmounts => ({
  amountMoved: (from, to) =>
    movements.reduce((sum, { debit, credit, amount }) => (debit === from && credit === to ? sum + amount : sum), 0),
})
