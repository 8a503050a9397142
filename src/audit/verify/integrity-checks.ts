import { sha256 } from '../../ledger/rules/hash.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { missingColumn, UnreadableEvent } from '../../ledger/rules/unreadable-event.ts'
import { GENESIS_HASH } from '../../ledger/storage/event-hash.ts'
import type { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import type { CheckpointHead } from '../checkpoint/checkpoint.ts'
import type { Check, EventFinding } from '../finding.ts'
import { BalanceChecks, type BalanceSnapshot } from './balance-checks.ts'

/** The last event's position, hash and time. */
export interface LastEvent {
  readonly position: number
  readonly hash: string
  readonly at: number
}

/**
 * The first half of what is checked of every event, and all that needs no more than the bytes of its row: order,
 * columns, hash and time, each against the event before, both sides of what it moves, and balances. Goes on after a
 * finding as if what is stored were right, so that one wrong event is one finding. The other half, `BookChecks`, is what
 * events mean; neither needs anything of the other.
 */
export class IntegrityChecks {
  readonly #balances = new BalanceChecks((check, message) => this.#addFinding(check, this.#position, message))
  #checkpoint: CheckpointHead | undefined
  #findings: EventFinding[] = []
  #count = 0
  #position = 0
  #hash = GENESIS_HASH
  #at = Number.NEGATIVE_INFINITY

  /** Before the first event 0, the genesis and no time. */
  get last(): LastEvent {
    return { position: this.#position, hash: this.#hash, at: this.#at }
  }

  /** At its position the ledger must have its hash. */
  expectCheckpoint(checkpoint: CheckpointHead): void {
    this.#checkpoint = checkpoint
  }

  /** What was found since it was taken last. */
  takeFindings(): readonly EventFinding[] {
    const found = this.#findings
    this.#findings = []
    return found
  }

  /** All balances; from then on none is kept here. */
  takeBalances(): BalanceSnapshot {
    return this.#balances.takeBalances()
  }

  check(rows: EventRowReader): void {
    const { position } = rows
    this.#count += 1
    const follows = this.#checkOrder(position)
    this.#position = position
    const before = this.#hash
    let check: Check = 'form'
    try {
      const { at, hash } = rows
      const canonical = rows.canonicalBytes(before)
      this.#hash = hash ?? missingColumn(position, 'hash')
      if (position === this.#checkpoint?.position) this.#checkCheckpoint(position, this.#checkpoint)
      check = 'hash'
      // Over a gap there is nothing that the hash could follow from.
      if (follows) this.#checkHash(position, sha256(canonical))
      if (at < this.#at)
        this.#addFinding('time', position, `${isoMicros(at)} is before the time of the event before it`)
      this.#at = at
    } catch (error) {
      this.#hash = rows.hash ?? ''
      this.#addFinding(check, position, error instanceof Error ? error.message : String(error))
    }
    this.#checkBalances(rows)
  }

  /** Whatever else of the event cannot be read. */
  #checkBalances(rows: EventRowReader): void {
    try {
      this.#balances.check(rows)
    } catch (error) {
      // Then there are no canonical bytes either, and it is told already.
      if (!(error instanceof UnreadableEvent)) throw error
    }
  }

  #checkOrder(position: number): boolean {
    const expected = this.#position + 1
    if (position === expected) return true
    if (position > expected) this.#addFinding('order', expected, `is missing; the next event is at ${position}`)
    else this.#addFinding('order', position, `stands after position ${this.#position}`)
    return false
  }

  #checkHash(position: number, ought: string): void {
    if (this.#hash === ought) return
    this.#addFinding('hash', position, `${this.#hash} does not follow from the event and the hash before it (${ought})`)
  }

  #checkCheckpoint(position: number, checkpoint: CheckpointHead): void {
    const hash = this.#hash
    if (hash === checkpoint.hash) return
    const message = `what stands up to here was rewritten: its hash is ${hash}, and was ${checkpoint.hash} in the checkpoint of ${checkpoint.at}`
    this.#addFinding('checkpoint', position, message)
  }

  #addFinding(check: Check, position: number, message: string): void {
    this.#findings.push({ finding: { check, position, message }, events: this.#count })
  }
}
