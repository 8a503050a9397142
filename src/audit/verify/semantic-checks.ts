import { evolveFact } from '../../domain.ts'
import { Replay } from '../../ledger/replay/replay.ts'
import { NotLoaded } from '../../ledger/replay/replay-state.ts'
import type { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import { isReadByEvolvers } from '../../ledger/storage/evolver-balances.ts'
import { type EventFields, parseEvent } from '../../ledger/storage/stored-event.ts'
import type { Check, EventFinding } from '../finding.ts'
import { type BalanceSnapshot, movementError } from './balance-checks.ts'
import { LuckyChecks } from './draws/lucky-checks.ts'
import { SpinChecks } from './draws/spin-checks.ts'

/**
 * The second half of what is checked of every event, `ChainChecks` being the first: what it means. Its form, draws,
 * spins and rules; and folds it, with copies of those balances that rules look at. Goes on after a finding without the
 * event, whose movements still count in the other half when nothing is wrong with them.
 */
export class SemanticChecks {
  /** All that follows from the events so far. */
  readonly replay = new Replay(evolveFact, isReadByEvolvers)
  readonly #draws: readonly (LuckyChecks | SpinChecks)[]
  /** Whether all balances are folded here. */
  #hasAllBalances = false
  #findings: EventFinding[] = []
  #count = 0

  constructor() {
    const fault = (position: number, message: string): void => this.#addFinding('draw', position, message)
    this.#draws = [
      new LuckyChecks({ onFault: fault, onLuckyDraw: () => {} }),
      new SpinChecks({ onFault: fault, onSpin: () => {} }),
    ]
  }

  /** Events that were looked at. */
  get count(): number {
    return this.#count
  }

  /** What was found since it was taken last. */
  takeFindings(): readonly EventFinding[] {
    const found = this.#findings
    this.#findings = []
    return found
  }

  /** Goes on with all balances: with those that the other half kept so far. */
  importBalances({ accounts, balances }: BalanceSnapshot): void {
    this.replay.state.importBalances(accounts, balances)
    this.#hasAllBalances = true
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
      if (movements.every((movement) => movementError(movement) === undefined)) this.replay.fold(event, movements)
    } catch (error) {
      if (error instanceof NotLoaded) throw error
      this.#addFinding(check, position, error instanceof Error ? error.message : String(error))
    }
  }

  /** With those movements alone whose balances are kept here. Undefined when a column cannot be read, which the other half tells. */
  #happeningIn(rows: EventRowReader): EventFields | undefined {
    try {
      const { position, type, version, data, at } = rows
      const movements = this.#hasAllBalances ? rows.movements : rows.movementsReadByEvolvers
      return { position, type, version, data, movements, at }
    } catch {
      return undefined
    }
  }

  #addFinding(check: Check, position: number, message: string): void {
    this.#findings.push({ finding: { check, position, message }, events: this.#count })
  }
}
