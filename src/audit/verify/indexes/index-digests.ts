import { getRandomValues } from 'node:crypto'
import { baseOf } from '../../../ledger/indexes/index-rows.ts'
import type { Page } from '../../../ledger/storage/copy-rows.ts'
import type { EventRowReader } from '../../../ledger/storage/event-row-reader.ts'
import type { BalanceChecks } from '../balance-checks.ts'
import { userTerm, visitTerms } from './event-terms.ts'
import { IndexRowReader, type IndexTable } from './index-row-reader.ts'

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
  /** What the current block has: accounts, and terms that may be there more than once. */
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

/** Random for each run, so that nobody who changes rows can choose changes that have no effect on the sums of digests. */
const [keyA = 0, keyB = 0, lastKeyA = 0, lastKeyB = 0] = getRandomValues(new Int32Array(4))
const MULTIPLIER_A = 0x2c1b3c6d
const MULTIPLIER_B = 0x297a2d39
const HIGH_WORD = 2 ** 32

/** A digest, in two words of 32 bits, of the words that are added to it in their order. `finish` ends it. */
class KeyedDigest {
  a = keyA
  b = keyB

  /** As new. */
  restart(): void {
    this.a = keyA
    this.b = keyB
  }

  /** Adds the lower 32 bits of an integer. */
  add(word: number): void {
    const a = Math.imul(this.a ^ word, MULTIPLIER_A)
    const b = Math.imul(this.b ^ word, MULTIPLIER_B)
    this.a = a ^ (a >>> 15)
    this.b = b ^ (b >>> 13)
  }

  /** Before digests are summed, as the last words only reach a few bits: each then depends on all words and another key. */
  finish(): void {
    this.a = mixBits(this.a ^ lastKeyA)
    this.b = mixBits(this.b ^ lastKeyB)
  }

  /** Adds any integer; a number must be a safe one, a bigint beyond those. */
  addInteger(value: number | bigint): void {
    if (typeof value === 'number') {
      this.add(value)
      this.add(Math.floor(value / HIGH_WORD))
    } else {
      this.add(value < 0n ? -1 : 1)
      for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 32n) this.add(Number(rest & 0xffffffffn))
    }
  }
}

/** The last step of MurmurHash3: every bit of the result depends on every bit of the word. */
function mixBits(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
