import { currencies, currencyOf } from '../ledger/account.ts'
import type { ChainedEntry } from '../ledger/chain.ts'
import { chained, GENESIS } from '../ledger/chain.ts'
import type { Movement } from '../ledger/movement.ts'
import { parseEntry, readEvent } from '../ledger/recorded.ts'
import type { Replay } from '../ledger/replay.ts'
import type { TextRow } from '../ledger/row-table.ts'
import { isoMicros } from '../ledger/time.ts'
import { DrawChecks } from './draw-checks.ts'
import type { Check, Findings } from './finding.ts'

/**
 * Checks events one after the other, each against the one before, and folds them. Goes on after a finding as
 * if what is stored were right, so that one wrong event is one finding.
 */
export class EventChecks {
  readonly #replay: Replay
  readonly #findings: Findings
  readonly #draws: DrawChecks
  #count = 0
  #position = 0
  #hash = GENESIS
  #at = Number.NEGATIVE_INFINITY

  constructor(replay: Replay, findings: Findings) {
    this.#replay = replay
    this.#findings = findings
    this.#draws = new DrawChecks({
      fault: (position, message) => this.#find('draw', position, message),
      drawn: () => {},
      spun: () => {},
    })
  }

  /** Events that were looked at. */
  get count(): number {
    return this.#count
  }

  /** The last event's position, hash and time; before the first one 0, the genesis and none. */
  get last(): { readonly position: number; readonly hash: string; readonly at: number } {
    return { position: this.#position, hash: this.#hash, at: this.#at }
  }

  check(row: TextRow): void {
    const position = Number(row['position'])
    const follows = this.#checkOrder(position)
    this.#count += 1
    this.#position = position
    const entry = this.#attempt('form', position, () => parseEntry(row))
    // Over a gap there is nothing that the hash could follow from.
    if (entry !== undefined && follows) this.#checkHash(entry)
    this.#hash = row['hash'] ?? ''
    if (entry === undefined) return

    if (entry.at < this.#at) {
      this.#find('time', position, `${isoMicros(entry.at)} is before the time of the event before it`)
    }
    this.#at = entry.at

    const event = this.#attempt('form', position, () => readEvent(entry))
    const balanced = this.#checkMovements(entry)
    if (event === undefined) return
    this.#draws.check(event, this.#replay.rows)
    if (balanced) this.#attempt('rules', position, () => this.#replay.fold(event))
  }

  #checkOrder(position: number): boolean {
    const expected = this.#position + 1
    if (position === expected) return true
    if (position > expected) this.#find('order', expected, `is missing; the next event is at ${position}`)
    else this.#find('order', position, `stands after position ${this.#position}`)
    return false
  }

  #checkHash(entry: ChainedEntry): void {
    const hash = this.#attempt('hash', entry.position, () => chained(entry, this.#hash))
    if (hash === undefined || hash === entry.hash) return
    this.#find('hash', entry.position, `${entry.hash} does not follow from the event and the hash before it (${hash})`)
  }

  /** Each currency sums to zero at every position when each movement is of one currency. */
  #checkMovements({ position, movements }: ChainedEntry): boolean {
    const faults = movements.map(faultOf).filter((fault) => fault !== null)
    for (const fault of faults) this.#find('double-entry', position, fault)
    return faults.length === 0
  }

  #attempt<Result>(check: Check, position: number, work: () => Result): Result | undefined {
    try {
      return work()
    } catch (error) {
      this.#find(check, position, error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  #find(check: Check, position: number, message: string): void {
    this.#findings.add({ check, position, message })
  }
}

function faultOf({ debit, credit, amount }: Movement): string | null {
  const currency = currencyOf(debit)
  if (currency !== currencyOf(credit)) return `${debit} and ${credit} are not of one currency`
  if (!currencies.some((known) => known === currency)) return `${debit} is of no known currency`
  return Number.isSafeInteger(amount) && amount > 0 ? null : `moves ${amount} from ${debit} to ${credit}`
}
