import type { ReplayState } from '../../ledger/replay/replay-state.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import type { Fields } from '../../ledger/storage/copy-rows.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import { type Finding, MAX_FINDINGS } from '../finding.ts'

/**
 * Compares a table with the rows that were replayed, to the letter; of a table that is all wrong the first rows that it
 * meets. Calls `onPage` between pages. Rows are looked up by id, so that nothing hangs on how the database sorts.
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

/** What is wrong with a page of rows, page by page; at the end which rows were on none. */
async function* comparePages(
  snapshot: Snapshot,
  { columns, key, projection, selectAll: scan }: RowTable,
  rows: ReplayState,
): AsyncGenerator<readonly (readonly [id: string, message: string])[], void> {
  const keys = key.map((column) => columns.indexOf(column))
  const known = rows.sweep(projection)
  for await (const page of snapshot.rows(scan)) {
    const found: (readonly [id: string, message: string])[] = []
    for (const fields of page) {
      const id = idOf(fields, keys)
      const row = known.visit(id)
      if (row === undefined) found.push([id, 'the table has a row that the ledger does not know'])
      else for (const difference of differences(columns, fields, row)) found.push([id, difference])
    }
    yield found
  }
  yield Array.from(known.unvisited(), (id) => [id, 'the table lacks a row that the ledger knows'])
}

function idOf(fields: Fields, keys: readonly number[]): string {
  let id = ''
  for (let i = 0; i < keys.length; i += 1) id += `${i === 0 ? '' : ':'}${fields[keys[i] ?? 0]}`
  return id
}

const none: readonly string[] = []

function differences(columns: readonly string[], held: Fields, replayed: unknown): readonly string[] {
  let found: string[] | undefined
  for (let i = 0; i < columns.length; i += 1) {
    const column = columns[i] ?? ''
    const is = held[i] ?? null
    const ought = scannedText(replayed, column)
    if (is === ought) continue
    found ??= []
    found.push(`${column} is ${is ?? 'null'} and ought to be ${ought ?? 'null'}`)
  }
  return found ?? none
}

/** A value as a table's `scan` reads it; times are microseconds there. */
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
