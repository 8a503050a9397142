import { BLOCK_EVENTS, baseOf, INDEX_CURSOR, segmentEvents } from '../../../ledger/indexes/index-writer.ts'
import type { Snapshot } from '../../../ledger/replay/snapshot.ts'
import type { Page } from '../../../ledger/storage/copy-rows.ts'
import { type Finding, MAX_FINDINGS } from '../finding.ts'
import { pagesOf } from './index-row-reader.ts'

/** Where stored pages go: to the digests of the scan that reads the events. */
export interface IndexPageReceiver {
  /** Pages of one segment after another: what they say of the events after a position counts. */
  addIndexPages(pages: Page, after: number): Promise<void>
  /** Between two segments. */
  endIndexSegment(): Promise<void>
  differingBlocks(before: number): Promise<readonly number[]>
}

interface Segment {
  readonly level: number
  readonly base: number
  readonly end: number
}

/**
 * Compares the index of the ledger with its events, up to its cursor: it may lag. Segments are read one by one while the
 * subscriber merges them: what was compared in one of them is left out of the one that replaces it.
 */
export class IndexChecks {
  readonly #receiver: IndexPageReceiver
  /** What the index says of the events up to here was read. */
  #read: number
  /** Positions that no segment has. */
  readonly #gaps: { readonly after: number; readonly upTo: number }[] = []

  /** What the index says of the events up to `after` is not compared. */
  constructor(receiver: IndexPageReceiver, after: number) {
    this.#receiver = receiver
    this.#read = after
  }

  /** Reads the segments that end by a position, whose events the scan has read. */
  async readSegments(snapshot: Snapshot, upTo: number): Promise<void> {
    const { indexed } = await readCursor(snapshot)
    const end = Math.min(upTo, indexed)
    while (this.#read + BLOCK_EVENTS <= end) {
      const segment = await segmentAfter(snapshot, this.#read)
      if (segment === undefined || segment.base > this.#read) {
        const upTo = Math.min(segment?.base ?? end, end)
        this.#gaps.push({ after: this.#read, upTo })
        this.#read = upTo
        continue
      }
      if (segment.end > end) return
      let pages = 0
      for await (const page of snapshot.binaryRows(pagesOf(segment.level, segment.base))) {
        pages += 1
        await this.#receiver.addIndexPages(page, this.#read)
      }
      // None are left of one that was merged meanwhile.
      if (pages === 0 && (await segmentAfter(snapshot, this.#read))?.level !== segment.level) continue
      this.#read = segment.end
      await this.#receiver.endIndexSegment()
    }
  }

  /** The findings, once all events were read; the snapshot is of one moment. */
  async findings(snapshot: Snapshot): Promise<readonly Finding[]> {
    const { indexed, head } = await readCursor(snapshot)
    const segments = await liveSegments(snapshot)
    const findings: Finding[] = []
    const add = (table: string, id: string, message: string): void =>
      void findings.push({ check: 'projection', position: null, table, id, message })
    if (indexed > head || indexed < 0 || indexed % BLOCK_EVENTS !== 0)
      add('ledger_cursors', INDEX_CURSOR, `position is ${indexed}, which no block of the ledger ends at`)
    await this.readSegments(snapshot, Math.min(indexed, head))
    for (const { after, upTo } of this.#gaps)
      add('ledger_index_segments', String(after), `no segment has the events ${after + 1} to ${upTo}`)
    for (const { level, base } of superfluous(segments, indexed))
      add('ledger_index_segments', `${level}:${base}`, 'is live besides those that have the events up to the cursor')
    for (const base of await this.#receiver.differingBlocks(baseOf(this.#read + 1))) {
      if (findings.length >= MAX_FINDINGS) break
      if (this.#gaps.some(({ after, upTo }) => base >= after && base < upTo)) continue
      add('ledger_index', String(base), `is not what follows from the events ${base + 1} to ${base + BLOCK_EVENTS}`)
    }
    return findings.slice(0, MAX_FINDINGS)
  }
}

async function liveSegments(snapshot: Snapshot): Promise<readonly Segment[]> {
  const rows = await snapshot.query(
    "select level, base from ledger_index_segments where state = 'live' order by base, level",
  )
  return rows.map((row) => {
    const [level, base] = [Number(row['level']), Number(row['base'])]
    return { level, base, end: base + segmentEvents(level) }
  })
}

/** The live segment that has the event after a position, or else the next one. */
const segmentAfter = async (snapshot: Snapshot, position: number): Promise<Segment | undefined> =>
  (await liveSegments(snapshot)).find(({ end }) => end > position)

/** The segments that overlap those before them, or reach beyond the cursor. */
function superfluous(segments: readonly Segment[], indexed: number): readonly Segment[] {
  let covered = 0
  return segments.filter(({ base, end }) => {
    if (base < covered || end > indexed) return true
    covered = end
    return false
  })
}

async function readCursor(snapshot: Snapshot) {
  const [row] = await snapshot.query(`
    select position as head,
           coalesce((select position from ledger_cursors where name = '${INDEX_CURSOR}'), 0) as indexed
    from ledger_head`)
  if (row === undefined) throw new Error('the ledger has no head')
  return { head: Number(row['head']), indexed: Number(row['indexed']) }
}
