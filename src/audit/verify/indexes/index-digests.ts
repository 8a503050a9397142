import { baseOf } from '../../../ledger/indexes/index-rows.ts'
import type { Page } from '../../../ledger/storage/copy-rows.ts'
import type { EventRowReader } from '../../../ledger/storage/event-row-reader.ts'
import type { BalanceChecks } from '../balances/balance-checks.ts'
import { userTerm, visitTerms } from './event-terms.ts'
import { IndexRowReader, type IndexTable } from './index-row-reader.ts'
import { KeyedDigest } from './keyed-digest.ts'

/** The sums of the digests of a block's rows: of those that follow from the events, less those that are stored. */
interface BlockDifference {
  a: number
  b: number
}

type Row = KeyedDigest & { base: number; count: number }

/** What a row begins with, so that none of one table has the digest of one of the other. */
const tableWords: Readonly<Record<IndexTable, number>> = { account_index: 1, event_index: 2 }
/** What is added instead of what the service does not write. */
const NOT_WRITTEN_BY_SERVICE = -2

/**
 * Compares the stored rows of the ledger's indexes with those that follow from the events, block by block: both as sums
 * of digests, so that neither has to wait for the other. Where they differ, `IndexChecks` finds out how.
 */
export class IndexDigests {
  readonly #balances: BalanceChecks
  readonly #differences = new Map<number, BlockDifference>()
  /** The block of the last event. */
  #base = 0
  #offset = 0
  /** By account: its row of the last block with a movement of it. */
  readonly #rows: Row[] = []
  /** By account: the term of its user, null for nobody. */
  readonly #userTerms: (number | null)[] = []
  /** Of the present block: accounts, and terms that may be there more than once. */
  #accounts: number[] = []
  #terms: number[] = []

  constructor(balances: BalanceChecks) {
    this.#balances = balances
  }

  /** Call it before the balances are given the movements of the event at this position. */
  startEvent(position: number): void {
    const base = baseOf(position)
    if (base !== this.#base) {
      this.#finishBlock()
      this.#base = base
    }
    this.#offset = position - base
  }

  /** Adds the event, whose movements the balances were given. */
  addEvent(rows: EventRowReader): void {
    this.#balances.forEachChange(this.#addChange)
    visitTerms(rows, this.#addTerm)
  }

  /** Adds stored rows of blocks that are complete. */
  addStored(table: IndexTable, page: Page): void {
    for (const rows = new IndexRowReader(table, page); rows.next(); ) {
      const digest = new KeyedDigest()
      const { base } = rows
      digest.add(tableWords[table])
      if (table === 'account_index') digest.add(this.#balances.idOf(rows.account))
      digest.addInteger(base)
      let count = 0
      const isList = rows.forEachItem((item) => {
        digest.add(item)
        count += 1
      })
      digest.add(isList ? count : NOT_WRITTEN_BY_SERVICE)
      if (table === 'account_index') {
        const { balance } = rows
        if (balance === undefined) digest.add(NOT_WRITTEN_BY_SERVICE)
        else digest.addInteger(balance)
      }
      this.#add(baseOf(base + 1), digest, -1)
    }
  }

  /** The complete blocks before a position whose stored rows are not those that follow from the events, in order. */
  differingBlocks(before: number): readonly number[] {
    this.#finishBlock()
    return [...this.#differences]
      .filter(([base, { a, b }]) => base < before && (a !== 0 || b !== 0))
      .map(([base]) => base)
      .toSorted((a, b) => a - b)
  }

  readonly #addChange = (account: number): void => {
    let row = this.#rows[account]
    if (row === undefined) {
      row = Object.assign(new KeyedDigest(), { base: Number.NaN, count: 0 })
      this.#rows[account] = row
      this.#userTerms[account] = userTerm(this.#balances.nameOf(account)) ?? null
    }
    if (row.base !== this.#base) {
      row.base = this.#base
      row.count = 0
      row.restart()
      row.add(tableWords.account_index)
      row.add(account)
      row.addInteger(this.#base)
      this.#accounts.push(account)
    }
    row.add(this.#offset)
    row.count += 1
  }

  readonly #addTerm = (term: number): void => void this.#terms.push(term)

  #finishBlock(): void {
    for (const account of this.#accounts) {
      const row = this.#rows[account]
      const term = this.#userTerms[account] ?? null
      if (term !== null) this.#terms.push(term)
      if (row === undefined) continue
      row.add(row.count)
      row.addInteger(this.#balances.balanceOf(account))
      this.#add(this.#base, row, 1)
    }
    if (this.#terms.length > 0) {
      const digest = new KeyedDigest()
      digest.add(tableWords.event_index)
      digest.addInteger(this.#base)
      const terms = new Set(Int32Array.from(this.#terms).sort())
      for (const term of terms) digest.add(term)
      digest.add(terms.size)
      this.#add(this.#base, digest, 1)
    }
    this.#accounts = []
    this.#terms = []
  }

  #add(base: number, digest: KeyedDigest, sign: 1 | -1): void {
    digest.finish()
    const { a, b } = digest
    let difference = this.#differences.get(base)
    if (difference === undefined) this.#differences.set(base, (difference = { a: 0, b: 0 }))
    difference.a = (difference.a + sign * a) | 0
    difference.b = (difference.b + sign * b) | 0
  }
}
