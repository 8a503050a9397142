import type { Fact, Movement } from '../rules/event.ts'
import type { EvolveFact } from '../rules/evolve.ts'
import { ReplayState } from './replay-state.ts'

/** Folds events, from the first one on, into all the rows that follow from them. */
export class Replay {
  readonly state: ReplayState
  readonly #evolve: EvolveFact

  /** `keeps`: the accounts whose balances are kept in the rows. */
  constructor(evolve: EvolveFact, keeps?: (account: string) => boolean) {
    this.state = new ReplayState(keeps)
    this.#evolve = evolve
  }

  /**
   * Of its movements those whose balances are kept in these rows. Throws what the rules have against the event; then
   * nothing of it is in the rows.
   */
  fold(event: Fact, moved: readonly Movement[]): void {
    try {
      this.#evolve(this.state, event, moved)
    } catch (error) {
      this.state.rollback()
      throw error
    }
    // What could be taken back does not grow with the ledger.
    this.state.checkpoint()
  }
}
