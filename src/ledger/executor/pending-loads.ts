import type { Key } from '../rules/projection.ts'
import type { RowTable, Statement } from '../storage/row-table.ts'
import type { StatementResult } from './pipelined-connection.ts'
import type { RowCache } from './row-cache.ts'

/** The rows that are still to be loaded into a row cache. */
export class PendingLoads {
  readonly #tables: ReadonlyMap<string, RowTable>
  readonly #rows: RowCache
  readonly #missing = new Map<RowTable, Set<string>>()

  constructor(tables: ReadonlyMap<string, RowTable>, rows: RowCache) {
    this.#tables = tables
    this.#rows = rows
  }

  /** Whether all these rows are loaded; those that are not will be. */
  request(keys: readonly Key[]): boolean {
    let allLoaded = true
    for (const { projection, id } of keys) {
      if (this.#rows.isLoaded(projection, id)) continue
      allLoaded = false
      const table = this.#tables.get(projection.name)
      if (table === undefined) throw new Error(`no table for ${projection.name}`)
      const ids = this.#missing.get(table)
      if (ids === undefined) this.#missing.set(table, new Set([id]))
      else ids.add(id)
    }
    return allLoaded
  }

  get statements(): Statement[] {
    return [...this.#missing].map(([table, ids]) => table.load([...ids]))
  }

  /** Puts in the results of `statements`; a row that was not found is loaded as absent. */
  accept(results: readonly Pick<StatementResult, 'rows'>[]): void {
    let i = 0
    for (const [table, ids] of this.#missing) {
      for (const id of ids) this.#rows.put(table.projection, id, undefined)
      for (const row of results[i]?.rows ?? []) this.#rows.put(table.projection, table.idOf(row), table.parse(row))
      i += 1
    }
    this.#missing.clear()
  }
}
