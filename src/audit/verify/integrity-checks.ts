import type { KeptBalances } from '../../ledger/replay/replay.ts'
import { missingColumn, UnreadableEvent } from '../../ledger/rules/event.ts'
import { sha256 } from '../../ledger/rules/hash.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Page } from '../../ledger/storage/copy-rows.ts'
import { GENESIS_HASH } from '../../ledger/storage/event-hash.ts'
import { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import { BalanceChecks } from './balance-checks.ts'
import type { Check, EventFinding } from './finding.ts'
import { IndexDigests } from './indexes/index-digests.ts'
import type { LinesDigest } from './line-digests.ts'

/** The last event's position, hash and time. */
export interface LastEvent {
  readonly position: number
  readonly hash: string
  readonly at: number
}

/**
 * The checks of every event that need only the bytes of its row: position, columns, hash and time against the event
 * before it, both sides of its movements, and balances. After a finding it continues with the stored values, so that one
 * wrong event is one finding. `SemanticChecks` are independent of these, so that both can run at the same time.
 */
export class IntegrityChecks {
  readonly #balances = new BalanceChecks((check, message) => this.#addFinding(check, this.#position, message))
  #index: IndexDigests | undefined
  #findings: EventFinding[] = []
  #count = 0
  #position = 0
  #hash = GENESIS_HASH
  #at = Number.NEGATIVE_INFINITY

  /** Before the first event: position 0, the genesis hash and no time. */
  get last(): LastEvent {
    return { position: this.#position, hash: this.#hash, at: this.#at }
  }

  /** Begins after an event, with the balances as of it. */
  begin({ position, hash, at }: LastEvent, balances: string | null): void {
    this.#position = position
    this.#hash = hash
    this.#at = at
    if (balances !== null) this.#balances.begin(balances)
  }

  /** From now on digests are kept of what the index should say of the events. */
  expectIndex(): void {
    this.#index = new IndexDigests()
  }

  /** Adds stored pages of the index: what they say of the events after a position. */
  addIndexPages(pages: Page, after: number): void {
    this.#index?.addStored(pages, after)
  }

  /** The blocks before a position of which the index, whose pages were added, says something else. */
  differingBlocks(before: number): readonly number[] {
    return this.#index?.differingBlocks(before) ?? []
  }

  /** The findings since the last call. */
  takeFindings(): readonly EventFinding[] {
    const findings = this.#findings
    this.#findings = []
    return findings
  }

  /** As `BalanceChecks.digest`, after the events so far. */
  balancesDigest(path: string | null): LinesDigest {
    return this.#balances.digest(path)
  }

  /** All balances, which are from then on not kept here. */
  takeBalances(): KeptBalances {
    return this.#balances.takeBalances()
  }

  check(rows: EventRowReader): void {
    const { position } = rows
    this.#count += 1
    const isNext = this.#checkOrder(position)
    this.#position = position
    const before = this.#hash
    let check: Check = 'form'
    try {
      const { at, hash } = rows
      const canonical = rows.canonicalBytes(before)
      this.#hash = hash ?? missingColumn(position, 'hash')
      check = 'hash'
      // After a gap the hash before this one is not known.
      if (isNext) this.#checkHash(position, sha256(canonical))
      if (at < this.#at)
        this.#addFinding('time', position, `${isoMicros(at)} is before the time of the event before it`)
      this.#at = at
    } catch (error) {
      this.#hash = rows.hash ?? ''
      this.#addFinding(check, position, error instanceof Error ? error.message : String(error))
    }
    this.#checkBalances(rows)
    this.#index?.addEvent(rows)
  }

  /** Checked even when other columns cannot be read. */
  #checkBalances(rows: EventRowReader): void {
    try {
      this.#balances.check(rows)
    } catch (error) {
      // The canonical bytes could not be read either, which is a finding already.
      if (!(error instanceof UnreadableEvent)) throw error
    }
  }

  #checkOrder(position: number): boolean {
    const expected = this.#position + 1
    if (position === expected) return true
    if (position > expected) this.#addFinding('order', expected, `is missing; the next event is at ${position}`)
    else this.#addFinding('order', position, `comes after position ${this.#position}`)
    return false
  }

  #checkHash(position: number, expected: string): void {
    if (this.#hash === expected) return
    this.#addFinding(
      'hash',
      position,
      `${this.#hash} does not follow from the event and the hash before it (${expected})`,
    )
  }

  #addFinding(check: Check, position: number, message: string): void {
    this.#findings.push({ finding: { check, position, message }, events: this.#count })
  }
}

/** Findings of a page, and the last event on it. */
export interface PageResult {
  readonly findings: readonly EventFinding[]
  readonly last: LastEvent
}

/** Checks the rows of a page. */
export function checkPage(checks: IntegrityChecks, bytes: Buffer): PageResult {
  for (const rows = new EventRowReader(bytes); rows.next(); ) checks.check(rows)
  return { findings: checks.takeFindings(), last: checks.last }
}

/** Adds pages of the index. */
export function addIndexPages(checks: IntegrityChecks, pages: Page, after: number): PageResult {
  checks.addIndexPages(pages, after)
  return { findings: [], last: checks.last }
}
