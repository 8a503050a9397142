import type { Client } from 'pg'
import { exactSum } from '../rules/money.ts'
import { type IndexPage, PageWriter } from './index-pages.ts'
import { type IndexedEvent, type Term, visitTerms } from './index-terms.ts'
import { type Segment, SegmentCursor, SegmentHeap } from './segment-cursor.ts'

/** The name of the cursor in `ledger_cursors`: how far the index has got, a multiple of a block. */
export const INDEX_CURSOR = 'indexes'
/** Events of a segment of level 0. What is not a whole block yet is searched without the index. */
export const BLOCK_EVENTS = 256
/** 32 segments become one of the next level: a read looks into at most so many of each level. */
export const FAN_IN_BITS = 5
const FAN_IN = 2 ** FAN_IN_BITS
/** Segments of this level, 268 million events each, stay. */
const TOP_LEVEL = 4

/** The position before the block that contains this one. */
export const baseOf = (position: number): number => position - 1 - ((position - 1) % BLOCK_EVENTS)

/** The events of a segment. */
export const segmentEvents = (level: number): number => BLOCK_EVENTS * FAN_IN ** level

/** Pages that a merge writes at a time. */
const WRITE_PAGES = 16
/** Pages that are deleted at a time. */
const SWEPT_PAGES = 64

/** Somebody else has written the index: a rebuild, or another instance after this one lost its lock. */
export class IndexMoved extends Error {}

/** What an entry of the index follows from. */
export type PlacedEvent = IndexedEvent & { readonly position: number }

/**
 * Writes the index of the ledger: a segment for each block of events, and, in the background, one segment for each 32 of a
 * level. A segment is seen once it is whole; the segments that it replaces are deleted afterwards, page by page. Merges
 * take their turns by pages written, so that they keep up with the blocks and delay none.
 */
export class IndexWriter {
  readonly #client: Client
  #indexed: number
  /** Merges by the level that they read, each a step at a time. */
  readonly #merges = new Map<number, AsyncGenerator<void, void>>()
  /** By level, the bases of complete groups that wait for their merge. */
  readonly #waiting = new Map<number, number[]>()
  readonly #dead: Segment[]
  /** Of the last block. */
  #blockPages = 0
  /** PostgreSQL's number of the table: a rebuild puts another one in its place. */
  readonly #table: string

  private constructor(client: Client, table: string, indexed: number, dead: Segment[]) {
    this.#client = client
    this.#table = table
    this.#indexed = indexed
    this.#dead = dead
  }

  /**
   * Continues where the index ends: merges that were cut off begin again. Throws where that is beyond the end of the ledger,
   * as it cannot be known what the index lacks.
   */
  static async open(client: Client): Promise<IndexWriter> {
    await client.query('insert into ledger_cursors (name, position) values ($1, 0) on conflict do nothing', [
      INDEX_CURSOR,
    ])
    const cursor = await client.query<{ position: string; head: string; table: string }>(
      `select c.position, h.position as head, to_regclass('ledger_index_segments')::oid as table
       from ledger_cursors c, ledger_head h where c.name = $1`,
      [INDEX_CURSOR],
    )
    const indexed = Number(cursor.rows[0]?.position ?? 0)
    const head = Number(cursor.rows[0]?.head ?? 0)
    if (indexed > head) throw new Error(`the index ends at position ${indexed}, beyond the end of the ledger, ${head}`)
    await client.query("update ledger_index_segments set state = 'dead' where state = 'building'")
    const { rows } = await client.query<{ level: number; base: string; state: string }>(
      'select level, base, state from ledger_index_segments order by base',
    )
    const segments = rows.map(({ level, base, state }) => ({ level, base: Number(base), state }))
    const dead = segments.filter(({ state }) => state === 'dead')
    const writer = new IndexWriter(client, String(cursor.rows[0]?.table), indexed, dead)
    for (const segment of segments) if (segment.state === 'live') writer.#completed(segment)
    return writer
  }

  /** Events up to this position are indexed. */
  get indexed(): number {
    return this.#indexed
  }

  /** Whether there is nothing to merge or to delete. */
  get isTidy(): boolean {
    return (
      this.#dead.length === 0 &&
      this.#merges.size === 0 &&
      [...this.#waiting.values()].every((bases) => bases.length === 0)
    )
  }

  /** Indexes the next block. Throws `IndexMoved`. */
  async addBlock(events: readonly PlacedEvent[]): Promise<void> {
    const base = this.#indexed
    if (events.length !== BLOCK_EVENTS || events.some(({ position }, i) => position !== base + i + 1))
      throw new Error(`the events after ${base} are not a block`)
    const pages = pagesOf(base, events)
    const { rowCount } = await this.#client.query({
      name: 'add index block',
      text: `with moved as (
               update ledger_cursors set position = $1::bigint + ${BLOCK_EVENTS} where name = '${INDEX_CURSOR}' and position = $1::bigint and to_regclass('ledger_index_segments')::oid = $5::oid
               returning position
             ), pages as (
               insert into ledger_index (level, base, term, first, data)
               select 0, $1::bigint, term, first, data
               from moved, unnest($2::bytea[], $3::bigint[], $4::bytea[]) as page (term, first, data)
             ), segment as (
               insert into ledger_index_segments (level, base, state) select 0, $1::bigint, 'live' from moved
             )
             select from moved`,
      values: [base, ...columnsOf(pages), this.#table],
    })
    if (rowCount !== 1) throw new IndexMoved('the index is another one, or its cursor elsewhere')
    this.#indexed += BLOCK_EVENTS
    this.#blockPages = pages.length
    this.#completed({ level: 0, base })
  }

  /**
   * Advances the merge of each level and what is to be deleted by twice as many pages as the last block had, so that all of
   * them keep up with the blocks.
   */
  async tidy(): Promise<void> {
    const steps = Math.ceil(this.#blockPages / WRITE_PAGES) + 1
    for (const [level, bases] of this.#waiting) {
      for (let step = 0; step < steps && bases[0] !== undefined; step += 1) {
        let merge = this.#merges.get(level)
        if (merge === undefined) this.#merges.set(level, (merge = this.#merge(level, bases[0])))
        const { done } = await merge.next()
        if (done !== true) continue
        this.#merges.delete(level)
        bases.shift()
      }
    }
    for (let step = 0; step < steps && this.#dead[0] !== undefined; step += 1) await this.#sweep(this.#dead[0])
  }

  /** Takes note of a live segment: with the last one of a group, a merge is due. */
  #completed({ level, base }: Segment): void {
    const group = segmentEvents(level + 1)
    if (level === TOP_LEVEL || (base + segmentEvents(level)) % group !== 0) return
    const waiting = this.#waiting.get(level)
    const first = base + segmentEvents(level) - group
    if (waiting === undefined) this.#waiting.set(level, [first])
    else waiting.push(first)
  }

  async *#merge(level: number, base: number): AsyncGenerator<void, void> {
    const client = this.#client
    // What is left of a merge that was cut off.
    for (let left = this.#deadAt(level + 1, base); left !== undefined; left = this.#deadAt(level + 1, base)) {
      await this.#sweep(left)
      yield
    }
    await client.query(
      `insert into ledger_index_segments (level, base, state) values ($1::smallint + 1, $2, 'building')`,
      [level, base],
    )
    const size = segmentEvents(level)
    const parts = Array.from(
      { length: FAN_IN },
      (_, i) => new SegmentCursor(client, { level, base: base + i * size }, i * size),
    )
    const heap = new SegmentHeap()
    for (const part of parts) if (await part.next()) heap.push(part)
    let pages: IndexPage[] = []
    const writer = new PageWriter((page) => pages.push(page))
    for (let part = heap.first; part !== undefined; part = heap.first) {
      part.copyTo(writer)
      if (part.hasNext() || (await part.next())) heap.sink()
      else heap.pop()
      if (pages.length < WRITE_PAGES) continue
      await this.#insert(level + 1, base, pages)
      pages = []
      yield
    }
    writer.finish()
    await this.#insert(level + 1, base, pages)
    const { rows } = await client.query<{ replaced: string }>(
      `with parts as (
         select level, base from ledger_index_segments
         where level = $1::smallint and base >= $2 and base < $3 and state = 'live'
       ), built as (
         update ledger_index_segments set state = 'live'
         where level = $1::smallint + 1 and base = $2 and state = 'building' and (select count(*) from parts) = ${FAN_IN}
         returning 1
       ), replaced as (
         update ledger_index_segments s set state = 'dead' from parts p
         where s.level = p.level and s.base = p.base and exists (select from built)
         returning 1
       )
       select count(*) as replaced from replaced`,
      [level, base, base + FAN_IN * size],
    )
    if (Number(rows[0]?.replaced) !== FAN_IN) throw new Error(`segments of the index after ${base} are missing`)
    for (const { segment } of parts) this.#dead.push(segment)
    this.#completed({ level: level + 1, base })
  }

  async #insert(level: number, base: number, pages: readonly IndexPage[]): Promise<void> {
    const { rowCount } = await this.#client.query({
      name: 'add index pages',
      text: `insert into ledger_index (level, base, term, first, data)
             select s.level, s.base, page.term, page.first, page.data
             from ledger_index_segments s, unnest($3::bytea[], $4::bigint[], $5::bytea[]) as page (term, first, data)
             where s.level = $1 and s.base = $2 and s.state = 'building'`,
      values: [level, base, ...columnsOf(pages)],
    })
    if (rowCount !== pages.length) throw new IndexMoved('the segment that was being merged is gone')
  }

  #deadAt(level: number, base: number): Segment | undefined {
    return this.#dead.find((segment) => segment.level === level && segment.base === base)
  }

  /** Deletes some pages of a dead segment, and itself with the last of them. */
  async #sweep(segment: Segment): Promise<void> {
    const { level, base } = segment
    const { rowCount } = await this.#client.query({
      name: 'sweep index pages',
      text: `delete from ledger_index where ctid = any (array(
               select p.ctid from ledger_index p join ledger_index_segments using (level, base)
               where state = 'dead' and level = $1 and base = $2 limit ${SWEPT_PAGES}
             ))`,
      values: [level, base],
    })
    if (rowCount === SWEPT_PAGES) return
    await this.#client.query("delete from ledger_index_segments where level = $1 and base = $2 and state = 'dead'", [
      level,
      base,
    ])
    this.#dead.splice(this.#dead.indexOf(segment), 1)
  }
}

const columnsOf = (pages: readonly IndexPage[]): unknown[] => [
  pages.map(({ term }) => Buffer.from(term, 'latin1')),
  pages.map(({ first }) => first),
  pages.map(({ data }) => data),
]

interface Postings {
  readonly offsets: number[]
  readonly changes: (number | bigint)[]
}

/** The pages of the segment of one block of events. */
function pagesOf(base: number, events: readonly PlacedEvent[]): readonly IndexPage[] {
  const terms = new Map<Term, Postings>()
  for (const event of events) {
    const offset = event.position - base
    visitTerms(event, (term, amount) => {
      const postings = terms.get(term)
      if (postings === undefined) {
        terms.set(term, { offsets: [offset], changes: [amount] })
        return
      }
      const last = postings.offsets.length - 1
      if (postings.offsets[last] === offset) postings.changes[last] = exactSum(postings.changes[last] ?? 0, amount)
      else {
        postings.offsets.push(offset)
        postings.changes.push(amount)
      }
    })
  }
  const pages: IndexPage[] = []
  const writer = new PageWriter((page) => pages.push(page))
  for (const term of [...terms.keys()].toSorted(byBytes)) {
    const { offsets = [], changes = [] } = terms.get(term) ?? {}
    for (const [i, offset] of offsets.entries()) writer.add(term, offset, changes[i] ?? 0)
  }
  writer.finish()
  return pages
}

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
