import type { Movement } from '../../../ledger/rules/event.ts'

/** Hears what came of checking draws, in the ledger's order. */
export interface DrawListener {
  /** Something about the draw at a position does not follow from what was published before it. */
  readonly fault: (position: number, message: string) => void
  /** A lucky order: the number drawn, below the sum of the weights of that odds table. */
  readonly drawn: (oddsHash: string, r: number) => void
  /** A spin: which of so many players was drawn, from 0. */
  readonly spun: (players: number, draw: number) => void
}

/** What an event moved. */
export interface Moved {
  /** How much from one account to another. */
  amountMoved(from: string, to: string): number
}

export const movedBy = (movements: readonly Movement[]): Moved => ({
  amountMoved: (from, to) =>
    movements.reduce((sum, { debit, credit, amount }) => (debit === from && credit === to ? sum + amount : sum), 0),
})
