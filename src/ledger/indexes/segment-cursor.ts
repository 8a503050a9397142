import type { Client } from 'pg'
import { PageReader, type PageWriter } from './index-pages.ts'
import type { Term } from './index-terms.ts'

/** Pages that are read of a segment at a time. */
const READ_PAGES = 32

/** The place of a segment in the index. */
export interface Segment {
  readonly level: number
  readonly base: number
}

/** The terms of a segment in order, page by page. */
export class SegmentCursor {
  readonly segment: Segment
  readonly #client: Client
  /** What is added to its offsets. */
  readonly #shift: number
  #pages: readonly Buffer[] = []
  #page = 0
  #reader: PageReader | undefined
  #last: { readonly term: Buffer; readonly first: string } | undefined
  #isRead = false

  constructor(client: Client, segment: Segment, shift: number) {
    this.#client = client
    this.segment = segment
    this.#shift = shift
  }

  get term(): Term {
    return this.#reader?.term ?? ''
  }

  /** Segments of the same term come in order. */
  isBefore(other: SegmentCursor): boolean {
    const { term } = this
    return term === other.term ? this.#shift < other.#shift : term < other.term
  }

  /** The postings of the current term on the current page. */
  copyTo(writer: PageWriter): void {
    const reader = this.#reader
    while (reader?.nextPosting() === true) writer.add(reader.term, this.#shift + reader.offset, reader.change)
  }

  /** Moves to the next term of a page that was read; false when further ones have to be read. */
  hasNext(): boolean {
    while (this.#reader?.nextTerm() !== true) {
      const data = this.#pages[this.#page]
      if (data === undefined) return false
      this.#page += 1
      this.#reader = new PageReader(data)
    }
    return true
  }

  /** As `hasNext`, also of pages that have to be read; false at the end. */
  async next(): Promise<boolean> {
    while (!this.hasNext()) {
      if (this.#isRead) return false
      const { level, base } = this.segment
      const { rows } = await this.#client.query<{ term: Buffer; first: string; data: Buffer }>({
        name: 'read index pages',
        text: `select term, first, data from ledger_index
               where level = $1 and base = $2 and (term, first) > ($3::bytea, $4::bigint)
               order by term, first limit ${READ_PAGES}`,
        values: [level, base, this.#last?.term ?? Buffer.alloc(0), this.#last?.first ?? 0],
      })
      this.#isRead = rows.length < READ_PAGES
      this.#last = rows.at(-1)
      this.#pages = rows.map(({ data }) => data)
      this.#page = 0
    }
    return true
  }
}

/** Cursors of segments, the one with the least term first. */
export class SegmentHeap {
  readonly #cursors: SegmentCursor[] = []

  get first(): SegmentCursor | undefined {
    return this.#cursors[0]
  }

  push(cursor: SegmentCursor): void {
    this.#cursors.push(cursor)
    for (let i = this.#cursors.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1
      if (!this.#swapIfBefore(i, parent)) return
      i = parent
    }
  }

  /** The first one has moved to a later term. */
  sink(): void {
    for (let i = 0; ; ) {
      const left = 2 * i + 1
      const [a, b] = [this.#cursors[left], this.#cursors[left + 1]]
      if (a === undefined) return
      const least = b?.isBefore(a) === true ? left + 1 : left
      if (!this.#swapIfBefore(least, i)) return
      i = least
    }
  }

  /** Removes the first one. */
  pop(): void {
    const last = this.#cursors.pop()
    if (last === undefined || this.#cursors.length === 0) return
    this.#cursors[0] = last
    this.sink()
  }

  #swapIfBefore(i: number, parent: number): boolean {
    const [a, b] = [this.#cursors[i], this.#cursors[parent]]
    if (a === undefined || b === undefined || !a.isBefore(b)) return false
    this.#cursors[i] = b
    this.#cursors[parent] = a
    return true
  }
}
