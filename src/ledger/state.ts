import type { Key, WritableState } from './decider.ts'

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

interface Undo {
  readonly rows: Map<string, unknown>
  readonly changed: Set<string>
  readonly id: string
  readonly had: boolean
  readonly row: unknown
  readonly wasChanged: boolean
}

/** A row was read that was not asked for. */
export class Unasked extends Error {}

/**
 * The rows that a batch works on. `checkpoint()` starts a command, `rollback()` takes back all that was set
 * since. Rows that were never put in are unknown: reading one throws, unless the state is `whole`, as in a
 * replay, where a row that is not there does not exist.
 */
export class Rows implements WritableState {
  readonly #tables = new Map<string, Map<string, unknown>>()
  readonly #changed = new Map<string, Set<string>>()
  readonly #whole: boolean
  #undo: Undo[] = []

  constructor(options: { whole: boolean } = { whole: false }) {
    this.#whole = options.whole
  }

  get<Row>(projection: Projection<Row>, id: string): Row | undefined {
    const rows = this.#rows(projection)
    const row = rows.get(id)
    if (row === undefined && !this.#whole && !rows.has(id)) {
      throw new Unasked(`the command did not ask for ${projection.name} ${id}`)
    }
    return row
  }

  set<Row>(projection: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    const rows = this.#rows(projection)
    const changed = this.#changedOf(projection)
    const before = rows.get(id)
    const had = before !== undefined || rows.has(id)
    if (row === undefined && this.#whole) rows.delete(id)
    else rows.set(id, row)
    const { size } = changed
    changed.add(id)
    this.#undo.push({ rows, changed, id, had, row: before, wasChanged: changed.size === size })
  }

  knows(projection: Projection<unknown>, id: string): boolean {
    return this.#whole || this.#rows(projection).has(id)
  }

  /** Puts in a row as it was loaded; `undefined` when there is none. */
  put<Row>(projection: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    this.#rows(projection).set(id, row)
  }

  checkpoint(): void {
    this.#undo = []
  }

  rollback(): void {
    for (const { rows, changed, id, had, row, wasChanged } of this.#undo.toReversed()) {
      if (had) rows.set(id, row)
      else rows.delete(id)
      if (!wasChanged) changed.delete(id)
    }
    this.#undo = []
  }

  /** Ids that were set. */
  changed(projection: Projection<unknown>): ReadonlySet<string> {
    return this.#changedOf(projection)
  }

  /** Whether anything was set. */
  get dirty(): boolean {
    for (const ids of this.#changed.values()) if (ids.size > 0) return true
    return false
  }

  /** What was set is written: the rows of these projections stay, as loaded, and all others go. */
  settle(kept: readonly Projection<unknown>[]): void {
    this.#undo = []
    this.#changed.clear()
    const names = new Set(kept.map(({ name }) => name))
    for (const name of this.#tables.keys()) if (!names.has(name)) this.#tables.delete(name)
  }

  /** All rows of a projection, in no order. */
  all<Row>(projection: Projection<Row>): ReadonlyMap<string, Row | undefined> {
    return this.#rows(projection)
  }

  #changedOf({ name }: Projection<unknown>): Set<string> {
    let changed = this.#changed.get(name)
    if (changed === undefined) this.#changed.set(name, (changed = new Set()))
    return changed
  }

  #rows<Row>(projection: Projection<Row>): Map<string, Row | undefined> {
    let rows = this.#tables.get(projection.name)
    if (rows === undefined) this.#tables.set(projection.name, (rows = new Map()))
    // What is under a projection's name was put in through that projection, whose type this is.
    return rows as Map<string, Row | undefined>
  }
}
