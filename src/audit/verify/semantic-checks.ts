import { evolveFact } from '../../domain.ts'
import { Replay } from '../../ledger/replay/replay.ts'
import { NotLoaded } from '../../ledger/replay/replay-state.ts'
import type { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import { isReadByEvolvers } from '../../ledger/storage/evolver-balances.ts'
import { type EventFields, parseEvent } from '../../ledger/storage/stored-event.ts'
import type { Check, FoundAt } from '../finding.ts'
import { faultOf, type KeptBalances } from './balance-checks.ts'
import { LuckyChecks } from './draws/lucky-checks.ts'
import { SpinChecks } from './draws/spin-checks.ts'

/**
 * The second half of what is checked of every event, `ChainChecks` being the first: what it means. Its form, draws,
 * spins and rules; and folds it, with copies of those balances that rules look at. Goes on after a finding without the
 * event, whose movements still count in the other half when nothing is wrong with them.
 */
export class BookChecks {
  /** All that follows from the events so far. */
  readonly replay = new Replay(evolveFact, isReadByEvolvers)
  readonly #draws: readonly (LuckyChecks | SpinChecks)[]
  /** Whether all balances are folded here. */
  #all = false
  #found: FoundAt[] = []
  #count = 0

  constructor() {
    const fault = (position: number, message: string): void => this.#find('draw', position, message)
    this.#draws = [new LuckyChecks({ fault, drawn: () => {} }), new SpinChecks({ fault, spun: () => {} })]
  }

  /** Events that were looked at. */
  get count(): number {
    return this.#count
  }

  /** What was found since it was taken last. */
  take(): readonly FoundAt[] {
    const found = this.#found
    this.#found = []
    return found
  }

  /** Goes on with all balances: with those that the other half kept so far. */
  bring({ accounts, balances }: KeptBalances): void {
    this.replay.state.importBalances(accounts, balances)
    this.#all = true
  }

  check(rows: EventRowReader): void {
    this.#count += 1
    const happening = this.#happeningIn(rows)
    if (happening === undefined) return
    const { position, movements } = happening
    let check: Check = 'form'
    try {
      const event = parseEvent(happening)
      for (const draws of this.#draws) draws.check(event, rows, this.replay.state)
      check = 'rules'
      // What is wrong with a movement by itself, the other half tells.
      if (movements.every((movement) => faultOf(movement) === undefined)) this.replay.fold(event, movements)
    } catch (error) {
      if (error instanceof NotLoaded) throw error
      this.#find(check, position, error instanceof Error ? error.message : String(error))
    }
  }

  /** With those movements alone whose balances are kept here. Undefined when a column cannot be read, which the other half tells. */
  #happeningIn(rows: EventRowReader): EventFields | undefined {
    try {
      const { position, type, version, data, at } = rows
      const movements = this.#all ? rows.movements : rows.movementsReadByEvolvers
      return { position, type, version, data, movements, at }
    } catch {
      return undefined
    }
  }

  #find(check: Check, position: number, message: string): void {
    this.#found.push({ finding: { check, position, message }, events: this.#count })
  }
}
