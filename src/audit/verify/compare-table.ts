import type { ReplayState } from '../../ledger/replay/replay.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import type { Fields } from '../../ledger/storage/copy-rows.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import { type Finding, MAX_FINDINGS } from './finding.ts'

/**
 * Compares a table with the replayed rows, as text, and stops after the page with the last finding that a report has room
 * for. Calls `onPage` between pages. Rows are looked up by id, so their order in the table does not matter.
 */
export async function compareTable(
  snapshot: Snapshot,
  table: RowTable,
  rows: ReplayState,
  onPage: () => Promise<void>,
): Promise<readonly Finding[]> {
  const found: (readonly [id: string, message: string])[] = []
  for await (const page of comparePages(snapshot, table, rows)) {
    found.push(...page)
    if (found.length >= MAX_FINDINGS) break
    await onPage()
  }
  return found
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([id, message]) => ({ check: 'projection', position: null, table: table.projection.name, id, message }))
}

/** Findings of each page of rows; at the end, those of replayed rows that the table lacks. */
async function* comparePages(
  snapshot: Snapshot,
  { columns, key, projection, selectAll }: RowTable,
  rows: ReplayState,
): AsyncGenerator<readonly (readonly [id: string, message: string])[], void> {
  const keys = key.map((column) => columns.indexOf(column))
  const cursor = rows.sweep(projection)
  for await (const page of snapshot.rows(selectAll)) {
    const found: (readonly [id: string, message: string])[] = []
    for (const fields of page) {
      const id = idOf(fields, keys)
      const row = cursor.visit(id)
      if (row === undefined) found.push([id, 'the row does not follow from the ledger'])
      else for (const difference of differences(columns, fields, row)) found.push([id, difference])
    }
    yield found
  }
  yield Array.from(cursor.unvisited(), (id) => [id, 'the row is missing from the table'])
}

function idOf(fields: Fields, keys: readonly number[]): string {
  let id = ''
  for (let i = 0; i < keys.length; i += 1) id += `${i === 0 ? '' : ':'}${fields[keys[i] ?? 0]}`
  return id
}

const none: readonly string[] = []

function differences(columns: readonly string[], stored: Fields, replayed: unknown): readonly string[] {
  let found: string[] | undefined
  for (let i = 0; i < columns.length; i += 1) {
    const column = columns[i] ?? ''
    const actual = stored[i] ?? null
    const expected = scannedText(replayed, column)
    if (actual === expected) continue
    found ??= []
    found.push(`${column} is ${actual ?? 'null'}, expected ${expected ?? 'null'}`)
  }
  return found ?? none
}

/** A value as the text that `selectAll` reads from the table; times are in microseconds. */
function scannedText(row: unknown, column: string): string | null {
  const value: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, column) : undefined
  switch (typeof value) {
    case 'number':
    case 'bigint':
    case 'string':
      return String(value)
    case 'boolean':
      return value ? 't' : 'f'
    default:
      return value === null ? null : JSON.stringify(value)
  }
}
