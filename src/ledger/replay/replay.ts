import type { EvolveFact } from '../rules/evolve.ts'
import type { Movement } from '../rules/movement.ts'
import type { Fact } from '../rules/verb.ts'
import { WholeRows } from './replay-state.ts'

/** Folds events, from the first one on, into all the rows that follow from them. */
export class Replay {
  readonly rows: WholeRows
  readonly #evolve: EvolveFact

  /** `keeps`: the accounts whose balances are kept in the rows. */
  constructor(evolve: EvolveFact, keeps?: (account: string) => boolean) {
    this.rows = new WholeRows(keeps)
    this.#evolve = evolve
  }

  /**
   * Of its movements those whose balances are kept in these rows. Throws what the rules have against the event; then
   * nothing of it is in the rows.
   */
  fold(event: Fact, moved: readonly Movement[]): void {
    try {
      this.#evolve(this.rows, event, moved)
    } catch (error) {
      this.rows.rollback()
      throw error
    }
    // What could be taken back does not grow with the ledger.
    this.rows.checkpoint()
  }
}
