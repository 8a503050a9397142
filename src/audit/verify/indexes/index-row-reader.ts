import type { Page } from '../../../ledger/storage/copy-rows.ts'

export type IndexTable = 'account_index' | 'event_index'

/** In this order. */
const columns = { account_index: 'base, account, offsets, balance', event_index: 'base, terms' } as const
/** SQL: the rows of blocks from one position to another, for `IndexRowReader`; from 0 also those of any before it. */
export const rowsBefore = (table: IndexTable, from: number, to: number): string =>
  `select ${columns[table]} from ${table} where base < ${to}${from > 0 ? ` and base >= ${from}` : ''}`

const BASE = 0
const ACCOUNT = 1
const BALANCE = 3
const listColumns = { account_index: 2, event_index: 1 } as const

/** A list's header, of 4 bytes each: dimensions, whether there are nulls, element type, length, lower bound. */
const LIST_HEADER_BYTES = 20
/** A numeric's header, of 2 bytes each: digits, weight of the first digit, sign, scale. Digits have 2 bytes each. */
const NUMERIC_HEADER_BYTES = 8
const DIGIT_BASE = 10_000
const NEGATIVE = 0x4000

/** Reads rows of the ledger's indexes from binary pages, one after the other. */
export class IndexRowReader {
  readonly #table: IndexTable
  readonly #bytes: Page
  readonly #view: DataView
  #next = 0
  readonly #starts: number[] = []
  readonly #lengths: number[] = []

  constructor(table: IndexTable, bytes: Page) {
    this.#table = table
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Moves to the next row; false when there is none. */
  next(): boolean {
    if (this.#next === this.#bytes.length) return false
    const columns = this.#view.getInt16(this.#next)
    let at = this.#next + 2
    for (let column = 0; column < columns; column += 1) {
      const length = this.#view.getInt32(at)
      this.#starts[column] = at + 4
      this.#lengths[column] = length
      at += 4 + Math.max(0, length)
    }
    this.#next = at
    return true
  }

  get base(): number {
    return Number(this.#view.getBigInt64(this.#start(BASE)))
  }

  get account(): string {
    const start = this.#start(ACCOUNT)
    return this.#bytes.toString('utf8', start, start + (this.#lengths[ACCOUNT] ?? 0))
  }

  /** Undefined for one that no sum of amounts has, such as one with a fraction. */
  get balance(): number | bigint | undefined {
    const start = this.#start(BALANCE)
    const digits = this.#view.getInt16(start)
    const weight = this.#view.getInt16(start + 2)
    const sign = this.#view.getUint16(start + 4)
    if ((sign !== 0 && sign !== NEGATIVE) || this.#view.getInt16(start + 6) !== 0 || digits > weight + 1)
      return undefined
    let sum = 0
    for (let i = 0; i < digits; i += 1)
      sum = sum * DIGIT_BASE + this.#view.getInt16(start + NUMERIC_HEADER_BYTES + 2 * i)
    sum *= DIGIT_BASE ** (weight + 1 - digits)
    if (Number.isSafeInteger(sum)) return sign === NEGATIVE ? -sum : sum
    let large = 0n
    for (let i = 0; i <= weight; i += 1)
      large =
        large * BigInt(DIGIT_BASE) + BigInt(i < digits ? this.#view.getInt16(start + NUMERIC_HEADER_BYTES + 2 * i) : 0)
    return sign === NEGATIVE ? -large : large
  }

  /** Visits the offsets or the terms. False for a list that the service does not write, such as one with nulls. */
  forEachItem(visit: (item: number) => void): boolean {
    const view = this.#view
    const start = this.#start(listColumns[this.#table])
    if (view.getInt32(start) !== 1 || view.getInt32(start + 4) !== 0 || view.getInt32(start + 16) !== 1) return false
    const count = view.getInt32(start + 12)
    let at = start + LIST_HEADER_BYTES
    for (let i = 0; i < count; i += 1) {
      const length = view.getInt32(at)
      visit(length === 2 ? view.getInt16(at + 4) : view.getInt32(at + 4))
      at += 4 + length
    }
    return true
  }

  #start(column: number): number {
    return this.#starts[column] ?? 0
  }
}
