import type { Snapshot } from '../ledger/replay.ts'
import type { RowTable, TextRow } from '../ledger/row-table.ts'
import type { Rows } from '../ledger/state.ts'
import type { Findings } from './finding.ts'

/**
 * Compares a table with the rows that were replayed, to the letter. Calls `onPage` between pages. Rows are looked up
 * by id, so that nothing hangs on how the database sorts.
 */
export async function compareTable(
  snapshot: Snapshot,
  table: RowTable,
  rows: Rows,
  findings: Findings,
  onPage: () => void,
): Promise<void> {
  const replayed = rows.all(table.projection)
  const unseen = new Set(replayed.keys())
  const find = (id: string, message: string): void =>
    findings.add({ check: 'projection', position: null, table: table.projection.name, id, message })

  for await (const page of snapshot.pages(table.scan)) {
    for (const row of page) {
      const id = table.idOf(row)
      if (unseen.delete(id)) for (const difference of differences(table, row, replayed.get(id))) find(id, difference)
      else find(id, 'the table has a row that the ledger does not know')
      if (findings.full) return
    }
    onPage()
  }
  for (const id of [...unseen].sort()) {
    find(id, 'the table lacks a row that the ledger knows')
    if (findings.full) return
  }
}

function differences({ columns }: RowTable, held: TextRow, replayed: unknown): string[] {
  return columns.flatMap((column) => {
    const is = held[column] ?? null
    const ought = scanned(replayed, column)
    return is === ought ? [] : [`${column} is ${is ?? 'null'} and ought to be ${ought ?? 'null'}`]
  })
}

/** A value as a table's `scan` reads it; times are microseconds there. */
function scanned(row: unknown, column: string): string | null {
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
