import type { EventWithoutMovements, Movement } from '../rules/event.ts'
import type { EvolveWithMovements } from '../rules/evolve.ts'
import { ReplayState } from './replay-state.ts'

/** Folds events, from the first on, into the rows that follow from them. */
export class Replay {
  readonly state: ReplayState
  readonly #evolve: EvolveWithMovements

  /** `keepsBalance`: whether an account's balance is kept in `state`. */
  constructor(evolve: EvolveWithMovements, keepsBalance?: (account: string) => boolean) {
    this.state = new ReplayState(keepsBalance)
    this.#evolve = evolve
  }

  /**
   * Applies one event; `movements` are those of balances kept in `state`. When the rules reject the event this throws,
   * and `state` is as it was.
   */
  fold(event: EventWithoutMovements, movements: readonly Movement[]): void {
    try {
      this.#evolve(this.state, event, movements)
    } catch (error) {
      this.state.rollback()
      throw error
    }
    // Otherwise the undo log would grow with the ledger.
    this.state.checkpoint()
  }
}
