import type { PlacedEvent } from './decider.ts'
import type { Evolve } from './evolve.ts'
import { WholeRows } from './whole-rows.ts'

/** Folds events, from the first one on, into all the rows that follow from them. */
export class Replay {
  readonly rows = new WholeRows()
  readonly #evolve: Evolve

  constructor(evolve: Evolve) {
    this.#evolve = evolve
  }

  /** Throws what the rules have against the event; then nothing of it is in the rows. */
  fold(event: PlacedEvent): void {
    try {
      this.#evolve(this.rows, event)
    } catch (error) {
      this.rows.rollback()
      throw error
    }
    // What could be taken back does not grow with the ledger.
    this.rows.checkpoint()
  }
}
