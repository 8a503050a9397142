import { evolve } from '../books.ts'
import { currencies, currencyLength } from '../ledger/account.ts'
import type { EventRows } from '../ledger/event-rows.ts'
import type { Movement } from '../ledger/movement.ts'
import { type Happening, placedEvent } from '../ledger/recorded.ts'
import { Replay } from '../ledger/replay.ts'
import type { Check, FoundAt } from './finding.ts'
import { SpinChecks } from './spin-checks.ts'

/**
 * The second half of what is checked of every event, `ChainChecks` being the first: its form, both sides of what it
 * moves, spins and rules; and folds it. Goes on after a finding without the event.
 */
export class BookChecks {
  /** All that follows from the events so far. */
  readonly replay = new Replay(evolve)
  readonly #spins = new SpinChecks({
    fault: (position, message) => this.#find('draw', position, message),
    spun: () => {},
  })
  #found: FoundAt[] = []
  #count = 0

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

  check(rows: EventRows): void {
    this.#count += 1
    const happening = happeningIn(rows)
    if (happening === undefined) return
    const { position, movements } = happening
    const balanced = this.#checkMovements(position, movements)
    let check: Check = 'form'
    try {
      const event = placedEvent(happening)
      this.#spins.check(event, this.replay.rows)
      check = 'rules'
      if (balanced) this.replay.fold(event)
    } catch (error) {
      this.#find(check, position, error instanceof Error ? error.message : String(error))
    }
  }

  /** Each currency sums to zero at every position when each movement is of one currency. */
  #checkMovements(position: number, movements: readonly Movement[]): boolean {
    let balanced = true
    for (const movement of movements) {
      const fault = faultOf(movement)
      if (fault === null) continue
      this.#find('double-entry', position, fault)
      balanced = false
    }
    return balanced
  }

  #find(check: Check, position: number, message: string): void {
    this.#found.push({ finding: { check, position, message }, events: this.#count })
  }
}

/** Undefined when a column cannot be read, which the other half tells. */
function happeningIn(rows: EventRows): Happening | undefined {
  try {
    const { position, type, version, data, movements, at } = rows
    return { position, type, version, data, movements, at }
  } catch {
    return undefined
  }
}

/** The known currency of an account; undefined for any other. Found by its length: no two have the same. */
const known = new Map(currencies.map((currency) => [currency.length, `:${currency}`]))

function faultOf({ debit, credit, amount }: Movement): string | null {
  const currency = known.get(currencyLength(debit))
  if (currency === undefined || !debit.endsWith(currency)) return `${debit} is of no known currency`
  if (!credit.endsWith(currency)) return `${debit} and ${credit} are not of one currency`
  return Number.isSafeInteger(amount) && amount > 0 ? null : `moves ${amount} from ${debit} to ${credit}`
}
