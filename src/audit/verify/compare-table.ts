import type { ReplayState } from '../../ledger/replay/replay.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { type Fields, fieldsOf } from '../../ledger/storage/copy-rows.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import { type Finding, MAX_FINDINGS } from './finding.ts'
import { LineDigests, type LinesDigest, LinesHash } from './line-digests.ts'

/** Rows between two rests. */
export const CHUNK_ROWS = 10_000

/**
 * Compares a table with the replayed rows, as text, and stops after the page with the last finding that a report has room
 * for. Calls `onPage` between pages. Where digests of all rows differ, it reads the table again for the rows themselves.
 */
export async function compareTable(
  snapshot: Snapshot,
  table: RowTable,
  rows: ReplayState,
  onPage: () => Promise<void>,
): Promise<readonly Finding[]> {
  const digests = new LineDigests()
  for await (const lines of piecesOf(rows.lines(table), onPage)) for (const line of lines) digests.subtract(line)
  for await (const lines of snapshot.lines(table.selectAll)) {
    for (const line of lines) digests.add(line)
    await onPage()
  }
  if (digests.areEqual) return []

  const found: Difference[] = []
  for await (const differences of findDifferences(snapshot, table, rows, digests, onPage)) {
    found.push(...differences)
    if (found.length >= MAX_FINDINGS) break
  }
  return found
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([id, message]) => ({ check: 'projection', position: null, table: table.projection.name, id, message }))
}

type Difference = readonly [id: string, message: string]

/** The digest of all replayed rows of a table in the order of their ids. */
export async function digestOfRows(
  rows: ReplayState,
  table: RowTable,
  onPage: () => Promise<void>,
): Promise<LinesDigest> {
  const digest = new LinesHash()
  for await (const lines of piecesOf(rows.sortedLines(table), onPage)) for (const line of lines) digest.add(line)
  return digest.finish()
}

async function* piecesOf(
  lines: Iterable<string>,
  onPage: () => Promise<void>,
): AsyncGenerator<readonly string[], void> {
  let piece: string[] = []
  for (const line of lines) {
    if (piece.push(line) < CHUNK_ROWS) continue
    yield piece
    piece = []
    await onPage()
  }
  yield piece
}

/** Differences of each page of rows; at the end, replayed rows that the table lacks. */
async function* findDifferences(
  snapshot: Snapshot,
  table: RowTable,
  rows: ReplayState,
  digests: LineDigests,
  onPage: () => Promise<void>,
): AsyncGenerator<readonly Difference[], void> {
  const { columns, projection, selectAll } = table
  const idOf = idReader(table)
  /** The ids of the table's rows that may differ: few, as otherwise a page has enough findings. */
  const seen = new Set<string>()
  for await (const lines of snapshot.lines(selectAll)) {
    const found: Difference[] = []
    for (const line of lines) {
      if (!digests.mayDiffer(line)) continue
      const stored = fieldsOf(line)
      const id = idOf(stored)
      const row = seen.has(id) ? undefined : rows.get(projection, id)
      seen.add(id)
      if (row === undefined) found.push([id, 'the row does not follow from the ledger'])
      else for (const message of differences(columns, stored, fieldsOf(table.line(row)))) found.push([id, message])
    }
    yield found
    await onPage()
  }
  for await (const lines of piecesOf(rows.lines(table), onPage)) {
    const ids = lines.filter((line) => digests.mayDiffer(line)).map((line) => idOf(fieldsOf(line)))
    yield ids.filter((id) => !seen.has(id)).map((id) => [id, 'the row is missing from the table'])
  }
}

/** Reads the id of a row from its fields. */
export function idReader({ columns, key }: RowTable): (fields: Fields) => string {
  const keys = key.map((column) => columns.indexOf(column))
  return (fields) => keys.map((index) => fields[index]).join(':')
}

const differences = (columns: readonly string[], stored: Fields, replayed: Fields): readonly string[] =>
  columns.flatMap((column, i) =>
    stored[i] === replayed[i] ? [] : [`${column} is ${stored[i] ?? 'null'}, expected ${replayed[i] ?? 'null'}`],
  )
