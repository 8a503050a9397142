import type { Key, WritableState } from './verb.ts'

/** A set of rows derived from the ledger, or of words noted beside it; `Row` is what one row holds. */
export interface Projection<Row> {
  /** The name of its table. */
  readonly name: string
  /** Never set: it ties `Row` to the projection. */
  readonly row?: Row | undefined
}

export const projection = <Row>(name: string): Projection<Row> => ({ name })

export const keyOf = <Row>(projection: Projection<Row>, id: string | number): Key => ({
  projection,
  id: String(id),
})

/** A row in its place; `row` is undefined when it is known that there is none. */
interface Cell {
  readonly id: string
  row: unknown
  /** Whether it was set and is not written yet. */
  changed: boolean
}

/** The rows of one projection. */
interface Table {
  /** Those that were used of late. */
  cells: Map<string, Cell>
  /** Those that were used before that, some of them also since: a cell that is in both is one and the same. */
  old: Map<string, Cell> | undefined
  /** Those that were set, in the order in which they first were. */
  readonly changed: Cell[]
}

/** What a cell was before it was set. */
interface Undo {
  readonly table: Table
  readonly cell: Cell
  readonly known: boolean
  readonly row: unknown
  readonly changed: boolean
}

/** A projection of which rows are kept from batch to batch. */
export interface Kept {
  readonly projection: Projection<unknown>
  /** What a row of it counts for. */
  readonly weight: number
}

/** A row that was set; undefined when it is to go. */
export type Changed = Pick<Cell, 'id' | 'row'>

/** A row was read that was not asked for. */
export class Unasked extends Error {}

/**
 * The rows that a batch works on. `checkpoint()` starts a command, `rollback()` takes back all that was set
 * since. Rows that were never put in are unknown: reading one throws.
 */
export class Rows implements WritableState {
  readonly #tables = new Map<string, Table>()
  /** What was looked up last: mostly it is what is asked for next, and looking up is what takes most of the time. */
  #name = ''
  #table: Table | undefined
  #cell: Cell | undefined
  #undo: Undo[] = []

  get<Row>({ name }: Projection<Row>, id: string): Row | undefined {
    const cell = this.#find(this.#rows(name), id)
    if (cell === undefined) throw new Unasked(`the command did not ask for ${name} ${id}`)
    // What is under a projection's name was put in through that projection, whose type this is.
    return cell.row as Row | undefined
  }

  set<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    const table = this.#rows(name)
    const found = this.#find(table, id)
    const cell = found ?? this.#add(table, id)
    this.#undo.push({ table, cell, known: found !== undefined, row: cell.row, changed: cell.changed })
    cell.row = row
    if (cell.changed) return
    cell.changed = true
    table.changed.push(cell)
  }

  knows({ name }: Projection<unknown>, id: string): boolean {
    return this.#find(this.#rows(name), id) !== undefined
  }

  /** Puts in a row as it was loaded; `undefined` when there is none. */
  put<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    const table = this.#rows(name)
    const cell = this.#find(table, id) ?? this.#add(table, id)
    cell.row = row
  }

  checkpoint(): void {
    this.#undo = []
  }

  rollback(): void {
    for (const { table, cell, known, row, changed } of this.#undo.toReversed()) {
      cell.row = row
      if (!changed) {
        // What was set last is at the end.
        cell.changed = false
        table.changed.pop()
      }
      if (!known) table.cells.delete(cell.id)
    }
    this.#cell = undefined
    this.#undo = []
  }

  /** Rows that were not there when the command started. */
  added(): readonly unknown[] {
    const rows: unknown[] = []
    for (const { cell, row } of this.#undo) if (row === undefined && cell.row !== undefined) rows.push(cell.row)
    return rows
  }

  /** What was set. */
  changed({ name }: Projection<unknown>): readonly Changed[] {
    return this.#rows(name).changed
  }

  /** Whether anything was set. */
  get dirty(): boolean {
    for (const { changed } of this.#tables.values()) if (changed.length > 0) return true
    return false
  }

  /**
   * What was set is written: rows of the projections that are kept stay, as loaded, and all others go. Of those that
   * stay the ones go that were not used for long, in such a way that there are never more than `most` by weight, apart
   * from what one batch works on: once half of that has been used, what was used before that goes.
   */
  settle(kept: readonly Kept[], most: number): void {
    this.#undo = []
    const names = new Set(kept.map(({ projection }) => projection.name))
    for (const [name, { changed }] of this.#tables) {
      for (const cell of changed) cell.changed = false
      changed.length = 0
      if (!names.has(name)) this.#tables.delete(name)
    }
    let used = 0
    for (const { projection, weight } of kept) used += (this.#tables.get(projection.name)?.cells.size ?? 0) * weight
    if (used > most / 2) for (const table of this.#tables.values()) age(table)
    this.#name = ''
    this.#table = undefined
    this.#cell = undefined
  }

  #rows(name: string): Table {
    if (this.#table !== undefined && this.#name === name) return this.#table
    let table = this.#tables.get(name)
    if (table === undefined) this.#tables.set(name, (table = { cells: new Map(), old: undefined, changed: [] }))
    this.#name = name
    this.#table = table
    this.#cell = undefined
    return table
  }

  #find(table: Table, id: string): Cell | undefined {
    if (this.#cell?.id === id) return this.#cell
    const cell = table.cells.get(id) ?? takeOver(table, id)
    if (cell !== undefined) this.#cell = cell
    return cell
  }

  #add(table: Table, id: string): Cell {
    const cell = { id, row: undefined, changed: false }
    table.cells.set(id, cell)
    this.#cell = cell
    return cell
  }
}

/** What was used of late is old from now on, and what was old goes. */
function age(table: Table): void {
  table.old = table.cells
  table.cells = new Map()
}

/** A cell that only the old ones hold is used again. */
function takeOver({ cells, old }: Table, id: string): Cell | undefined {
  const cell = old?.get(id)
  if (cell !== undefined) cells.set(id, cell)
  return cell
}
