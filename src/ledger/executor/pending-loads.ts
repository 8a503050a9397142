import type { Key } from '../rules/projection.ts'
import type { RowTable, Statement } from '../storage/row-table.ts'
import type { StatementResult } from './pipelined-connection.ts'
import type { RowCache } from './row-cache.ts'

/** Which rows are still to be loaded. */
export class PendingLoads {
  readonly #tables: ReadonlyMap<string, RowTable>
  readonly #rows: RowCache
  readonly #wanted = new Map<RowTable, Set<string>>()

  constructor(tables: ReadonlyMap<string, RowTable>, rows: RowCache) {
    this.#tables = tables
    this.#rows = rows
  }

  /** Whether all these rows are known; those that are not will be loaded. */
  request(keys: readonly Key[]): boolean {
    let known = true
    for (const { projection, id } of keys) {
      if (this.#rows.isLoaded(projection, id)) continue
      known = false
      const table = this.#tables.get(projection.name)
      if (table === undefined) throw new Error(`no table for ${projection.name}`)
      const ids = this.#wanted.get(table)
      if (ids === undefined) this.#wanted.set(table, new Set([id]))
      else ids.add(id)
    }
    return known
  }

  get statements(): Statement[] {
    return [...this.#wanted].map(([table, ids]) => table.load([...ids]))
  }

  /** Puts in what the statements were answered; a row that was not found is known to be absent. */
  accept(answers: readonly Pick<StatementResult, 'rows'>[]): void {
    let i = 0
    for (const [table, ids] of this.#wanted) {
      for (const id of ids) this.#rows.put(table.projection, id, undefined)
      for (const row of answers[i]?.rows ?? []) this.#rows.put(table.projection, table.idOf(row), table.parse(row))
      i += 1
    }
    this.#wanted.clear()
  }
}
