import { currencies, currencyLength, sameCurrency } from '../ledger/account.ts'
import type { ChainedEntry } from '../ledger/chain.ts'
import { chained, GENESIS } from '../ledger/chain.ts'
import type { EventRows } from '../ledger/event-rows.ts'
import type { Movement } from '../ledger/movement.ts'
import { readEvent } from '../ledger/recorded.ts'
import type { Replay } from '../ledger/replay.ts'
import { isoMicros } from '../ledger/time.ts'
import type { Ending } from './checkpoint.ts'
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
  #expected: Ending | undefined
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

  /** At its position the ledger must have its hash. */
  expect(checkpoint: Ending): void {
    this.#expected = checkpoint
  }

  check(row: EventRows): void {
    const { position } = row
    const follows = this.#checkOrder(position)
    this.#count += 1
    this.#position = position
    const before = this.#hash
    this.#hash = row.hash
    let check: Check = 'form'
    try {
      const { entry } = row
      if (position === this.#expected?.position) this.#checkExpected(entry, this.#expected)
      check = 'hash'
      // Over a gap there is nothing that the hash could follow from.
      if (follows) this.#checkHash(entry, before)
      if (entry.at < this.#at) {
        this.#find('time', position, `${isoMicros(entry.at)} is before the time of the event before it`)
      }
      this.#at = entry.at
      const balanced = this.#checkMovements(entry)
      check = 'form'
      const event = readEvent(entry)
      this.#draws.check(event, this.#replay.rows)
      check = 'rules'
      if (balanced) this.#replay.fold(event)
    } catch (error) {
      this.#find(check, position, error instanceof Error ? error.message : String(error))
    }
  }

  #checkOrder(position: number): boolean {
    const expected = this.#position + 1
    if (position === expected) return true
    if (position > expected) this.#find('order', expected, `is missing; the next event is at ${position}`)
    else this.#find('order', position, `stands after position ${this.#position}`)
    return false
  }

  #checkHash(entry: ChainedEntry, before: string): void {
    const hash = chained(entry, before)
    if (hash === entry.hash) return
    this.#find('hash', entry.position, `${entry.hash} does not follow from the event and the hash before it (${hash})`)
  }

  #checkExpected({ position, hash }: ChainedEntry, checkpoint: Ending): void {
    if (hash === checkpoint.hash) return
    const message = `what stands up to here was rewritten: its hash is ${hash}, and was ${checkpoint.hash} in the checkpoint of ${checkpoint.at}`
    this.#find('checkpoint', position, message)
  }

  /** Each currency sums to zero at every position when each movement is of one currency. */
  #checkMovements({ position, movements }: ChainedEntry): boolean {
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
    this.#findings.add({ check, position, message })
  }
}

/** The known currency of an account; undefined for any other. Found by its length: no two have the same. */
const known = new Map(currencies.map((currency) => [currency.length, `:${currency}`]))

function faultOf({ debit, credit, amount }: Movement): string | null {
  const currency = known.get(currencyLength(debit))
  if (currency === undefined || !debit.endsWith(currency)) return `${debit} is of no known currency`
  if (!sameCurrency(debit, credit)) return `${debit} and ${credit} are not of one currency`
  return Number.isSafeInteger(amount) && amount > 0 ? null : `moves ${amount} from ${debit} to ${credit}`
}
