import type { Key, Projection, WritableState } from '../rules/projection.ts'
import type { RowTable, Statement } from '../storage/row-table.ts'
import type { StatementResult } from './pipelined-connection.ts'

/** A row in its place; `row` is undefined when the row is known not to exist. */
interface Cell {
  readonly id: string
  row: unknown
  /** Whether it was set and is not yet written to the database. */
  isChanged: boolean
}

/** The rows of one projection, in two generations by when they were last used. */
interface CachedTable {
  young: Map<string, Cell>
  /** Cells used since are also in `young`: the same object stands in both. */
  old: Map<string, Cell> | undefined
  /** Cells that were set, in the order in which they first were. */
  readonly changed: Cell[]
}

/** What a cell was before it was set. */
interface UndoEntry {
  readonly table: CachedTable
  readonly cell: Cell
  readonly existed: boolean
  readonly row: unknown
  readonly wasChanged: boolean
}

/** A projection whose rows stay cached from batch to batch. */
interface KeptProjection {
  readonly projection: Projection<unknown>
  /** What one of its rows counts towards the cache's limit. */
  readonly weight: number
}

/** A row that was set; undefined when it will be deleted. */
type ChangedRow = Pick<Cell, 'id' | 'row'>

/** A verb read a row that it did not declare in `reads` or `dependentReads`. */
export class UndeclaredRead extends Error {}

/**
 * The rows that batches work on. `checkpoint()` starts a command, `rollback()` undoes what was set since. Reading a row
 * that was never put in throws `UndeclaredRead`.
 */
export class RowCache implements WritableState {
  readonly #tables = new Map<string, CachedTable>()
  // The last lookup, kept because the next one mostly asks for the same: lookups dominate the time spent here.
  #lastName = ''
  #lastTable: CachedTable | undefined
  #lastCell: Cell | undefined
  #undo: UndoEntry[] = []

  get<Row>({ name }: Projection<Row>, id: string): Row | undefined {
    const cell = this.#find(this.#tableOf(name), id)
    if (cell === undefined) throw new UndeclaredRead(`the command did not declare its read of ${name} ${id}`)
    // Rows are put in through the projection of this name, whose type this is.
    return cell.row as Row | undefined
  }

  set<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    const table = this.#tableOf(name)
    const found = this.#find(table, id)
    const cell = found ?? this.#add(table, id)
    this.#undo.push({ table, cell, existed: found !== undefined, row: cell.row, wasChanged: cell.isChanged })
    cell.row = row
    if (cell.isChanged) return
    cell.isChanged = true
    table.changed.push(cell)
  }

  isLoaded({ name }: Projection<unknown>, id: string): boolean {
    return this.#find(this.#tableOf(name), id) !== undefined
  }

  /** Puts in a row as it was loaded; `undefined` when it does not exist. */
  put<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    const table = this.#tableOf(name)
    const cell = this.#find(table, id) ?? this.#add(table, id)
    cell.row = row
  }

  checkpoint(): void {
    this.#undo = []
  }

  rollback(): void {
    for (const { table, cell, existed, row, wasChanged } of this.#undo.toReversed()) {
      cell.row = row
      if (!wasChanged) {
        // The last one set is at the end.
        cell.isChanged = false
        table.changed.pop()
      }
      if (!existed) table.young.delete(cell.id)
    }
    this.#lastCell = undefined
    this.#undo = []
  }

  /** Rows that did not exist at the last checkpoint. */
  added(): readonly unknown[] {
    const rows: unknown[] = []
    for (const { cell, row } of this.#undo) if (row === undefined && cell.row !== undefined) rows.push(cell.row)
    return rows
  }

  changed({ name }: Projection<unknown>): readonly ChangedRow[] {
    return this.#tableOf(name).changed
  }

  get isDirty(): boolean {
    for (const { changed } of this.#tables.values()) if (changed.length > 0) return true
    return false
  }

  /**
   * Everything set has been sent. Rows of the projections `kept` stay cached, all others are dropped. Apart from what
   * one batch works on, the cache never has more than `maxWeight`: once half of that was used since the last
   * generation began, a new one begins and the rows used before that are dropped.
   */
  markClean(kept: readonly KeptProjection[], maxWeight: number): void {
    this.#undo = []
    const names = new Set(kept.map(({ projection }) => projection.name))
    for (const [name, { changed }] of this.#tables) {
      for (const cell of changed) cell.isChanged = false
      changed.length = 0
      if (!names.has(name)) this.#tables.delete(name)
    }
    let used = 0
    for (const { projection, weight } of kept) used += (this.#tables.get(projection.name)?.young.size ?? 0) * weight
    if (used > maxWeight / 2) for (const table of this.#tables.values()) startGeneration(table)
    this.#lastName = ''
    this.#lastTable = undefined
    this.#lastCell = undefined
  }

  #tableOf(name: string): CachedTable {
    if (this.#lastTable !== undefined && this.#lastName === name) return this.#lastTable
    let table = this.#tables.get(name)
    if (table === undefined) this.#tables.set(name, (table = { young: new Map(), old: undefined, changed: [] }))
    this.#lastName = name
    this.#lastTable = table
    this.#lastCell = undefined
    return table
  }

  #find(table: CachedTable, id: string): Cell | undefined {
    if (this.#lastCell?.id === id) return this.#lastCell
    const cell = table.young.get(id) ?? promote(table, id)
    if (cell !== undefined) this.#lastCell = cell
    return cell
  }

  #add(table: CachedTable, id: string): Cell {
    const cell = { id, row: undefined, isChanged: false }
    table.young.set(id, cell)
    this.#lastCell = cell
    return cell
  }
}

function startGeneration(table: CachedTable): void {
  table.old = table.young
  table.young = new Map()
}

/** Makes a cell of the old generation young, as it is used again. */
function promote({ young, old }: CachedTable, id: string): Cell | undefined {
  const cell = old?.get(id)
  if (cell !== undefined) young.set(id, cell)
  return cell
}

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
