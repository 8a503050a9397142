import type { Page } from '../../../ledger/storage/copy-rows.ts'

/** SQL: the pages of a live segment in order, for `IndexRowReader`. */
export const pagesOf = (level: number, base: number): string => `
  select p.level, p.base, p.term, p.first, p.data from ledger_index p join ledger_index_segments s using (level, base)
  where s.state = 'live' and p.level = ${level} and p.base = ${base} order by p.term, p.first`

const LEVEL = 0
const BASE = 1
const TERM = 2
const FIRST = 3
const DATA = 4

/** Reads pages of the index from binary rows, one after the other. */
export class IndexRowReader {
  readonly #bytes: Page
  readonly #view: DataView
  #next = 0
  readonly #starts: number[] = []
  readonly #lengths: number[] = []

  constructor(bytes: Page) {
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

  get level(): number {
    return this.#view.getInt16(this.#starts[LEVEL] ?? 0)
  }

  get base(): number {
    return Number(this.#view.getBigInt64(this.#starts[BASE] ?? 0))
  }

  get term(): string {
    return this.#bytesOf(TERM).toString('latin1')
  }

  get first(): number {
    return Number(this.#view.getBigInt64(this.#starts[FIRST] ?? 0))
  }

  get data(): Buffer {
    return this.#bytesOf(DATA)
  }

  #bytesOf(column: number): Buffer {
    const start = this.#starts[column] ?? 0
    return this.#bytes.subarray(start, start + (this.#lengths[column] ?? 0))
  }
}
