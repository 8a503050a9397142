import type { Rows } from '../rules/state.ts'
import type { Key } from '../rules/verb.ts'
import type { RowTable, Statement } from '../storage/row-table.ts'
import type { Answer } from './pipeline.ts'

/** Which rows are still to be loaded. */
export class Loads {
  readonly #tables: ReadonlyMap<string, RowTable>
  readonly #rows: Rows
  readonly #wanted = new Map<RowTable, Set<string>>()

  constructor(tables: ReadonlyMap<string, RowTable>, rows: Rows) {
    this.#tables = tables
    this.#rows = rows
  }

  /** Whether all these rows are known; those that are not will be loaded. */
  add(keys: readonly Key[]): boolean {
    let known = true
    for (const { projection, id } of keys) {
      if (this.#rows.knows(projection, id)) continue
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
  take(answers: readonly Pick<Answer, 'rows'>[]): void {
    let i = 0
    for (const [table, ids] of this.#wanted) {
      for (const id of ids) this.#rows.put(table.projection, id, undefined)
      for (const row of answers[i]?.rows ?? []) this.#rows.put(table.projection, table.idOf(row), table.parse(row))
      i += 1
    }
    this.#wanted.clear()
  }
}
