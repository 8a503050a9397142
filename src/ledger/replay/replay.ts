import { balances, type Movement } from '../rules/account.ts'
import type { EventWithoutMovements, EvolveWithMovements } from '../rules/event.ts'
import type { Projection, WritableState } from '../rules/projection.ts'
import type { RowTable } from '../storage/row-table.ts'
import { RowFile } from './row-file.ts'

/** An evolver read a balance that `isReadByEvolvers` does not name: a bug. */
export class NotLoaded extends Error {}

/** All balances, as they were kept outside a state. */
export interface KeptBalances {
  readonly accounts: readonly string[]
  /** In the order of `accounts`. */
  readonly balances: readonly (number | bigint)[]
  /** Where a `RowFile` saved those of further accounts, which may be removed once they are imported; null: there are none. */
  readonly file: string | null
}

/** A row in memory. */
interface Cell {
  /** Undefined: it was deleted, and its file may still have it. */
  row: unknown
  /** Whether its file does not have it like this. */
  isChanged: boolean
}

/** The rows of one projection: those in memory replace the same ones of the file. */
interface ReplayedTable {
  readonly name: string
  cells: Map<string, Cell>
  /** Undefined until it has rows. */
  file: RowFile | undefined
}

export interface ReplayOptions {
  /** Whether an account's balance is kept in the state. Default: every one is. */
  readonly keepsBalance?: (account: string) => boolean
  /** The tables whose rows may be written to temporary files. */
  readonly tables?: readonly RowTable[]
  /** Where a `RowFile` saved the rows that the state begins with, by the name of their table. Default: without any. */
  readonly base?: ReadonlyMap<string, string>
  /** With more rows in memory than this, those of the largest table are written to its file. */
  readonly maxRows?: number
}

/** Some 70 MB. */
const MAX_ROWS = 150_000

/** In the undo log: there was no such row in memory. */
const NOT_IN_MEMORY = Symbol('not in memory')

/**
 * All rows that follow from the events so far: a row that is not here does not exist. Only some balances may be kept
 * elsewhere; reading one throws `NotLoaded` until they are imported.
 */
export class ReplayState implements WritableState, Disposable {
  readonly #tables = new Map<string, ReplayedTable>()
  /** By name. */
  readonly #rowTables: ReadonlyMap<string, RowTable>
  readonly #maxRows: number
  /** Rows in memory, of all tables. */
  #count = 0
  /** The row read last: mostly it is set next, which then needs no lookup. */
  #lastReadTable: ReplayedTable | undefined
  #lastReadId = ''
  #lastRead: Cell | undefined
  /** What was set since the last checkpoint: its table, its id, and the row before. */
  readonly #undoTables: ReplayedTable[] = []
  readonly #undoIds: string[] = []
  readonly #undoRows: unknown[] = []
  /** How many entries count; those beyond are reused, so that an event allocates nothing. */
  #undoLength = 0
  #keepsBalance: (account: string) => boolean
  /** By projection, the ids set since `trackChanges`. */
  #changed: Map<string, Set<string>> | undefined

  constructor({ keepsBalance = () => true, tables = [], base = new Map(), maxRows = MAX_ROWS }: ReplayOptions = {}) {
    this.#keepsBalance = keepsBalance
    this.#rowTables = new Map(tables.map((table) => [table.projection.name, table]))
    for (const [name, path] of base) this.#tableOf(name).file = new RowFile(path)
    this.#maxRows = tables.length === 0 ? Number.POSITIVE_INFINITY : maxRows
  }

  get<Row>({ name }: Projection<Row>, id: string): Row | undefined {
    if (name === balances.name && !this.#keepsBalance(id)) throw new NotLoaded(`the balance of ${id} is not kept here`)
    const table = this.#tableOf(name)
    const found = table.cells.get(id) ?? this.#load(table, id)
    if (found === undefined) return undefined
    this.#lastReadTable = table
    this.#lastReadId = id
    this.#lastRead = found
    // Rows are put in through the projection of this name, whose type this is.
    return found.row as Row
  }

  set<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    if (this.#changed !== undefined) addChange(this.#changed, name, id)
    const table = this.#tableOf(name)
    const before = this.#lastReadTable === table && this.#lastReadId === id ? this.#lastRead : table.cells.get(id)
    this.#undoTables[this.#undoLength] = table
    this.#undoIds[this.#undoLength] = id
    this.#undoRows[this.#undoLength] = before === undefined ? NOT_IN_MEMORY : before.row
    this.#undoLength += 1
    this.#write(table, id, before, row)
  }

  add(account: string, change: number | bigint): number | bigint {
    if (!this.#keepsBalance(account)) return 0
    const balance = (this.get(balances, account)?.balance ?? 0n) + BigInt(change)
    this.set(balances, account, { account, balance })
    return balance
  }

  /** Replaces the balances by those kept elsewhere, which began with the same ones; from then on they are kept here. */
  importBalances({ accounts, balances: sums, file }: KeptBalances): void {
    this.#keepsBalance = () => true
    this.#lastReadTable = undefined
    const table = this.#tableOf(balances.name)
    if (file !== null) (table.file ??= new RowFile()).takeChanges(file)
    this.#count += accounts.length - table.cells.size
    table.cells = new Map()
    for (const [i, account] of accounts.entries())
      table.cells.set(account, { row: { account, balance: BigInt(sums[i] ?? 0) }, isChanged: true })
  }

  isLoaded(): boolean {
    return true
  }

  /** All rows of a projection, in no order. Neither read nor write any before the last one. */
  *rows<Row>({ name }: Projection<Row>): Generator<readonly [id: string, row: Row], void> {
    const { cells, file } = this.#tableOf(name)
    // As in `get`.
    for (const [id, { row }] of cells) if (row !== undefined) yield [id, row as Row]
    if (file === undefined) return
    const rowTable = this.#rowTableOf(name)
    for (const [id, line] of file.rows()) if (!cells.has(id)) yield [id, rowTable.parseLine(line) as Row]
  }

  /** As `rows`, each as the line that COPY writes. */
  *lines(rowTable: RowTable): Generator<string, void> {
    const { cells, file } = this.#tableOf(rowTable.projection.name)
    for (const { row } of cells.values()) if (row !== undefined) yield rowTable.line(row)
    for (const [id, line] of file?.rows() ?? []) if (!cells.has(id)) yield line
  }

  /** As `lines`, in the order of their ids. */
  sortedLines({ projection }: RowTable): Generator<string, void> {
    return this.#spill(this.#tableOf(projection.name)).lines()
  }

  /** Writes all rows of a projection to a path, for another state to begin with. */
  save({ name }: Projection<unknown>, path: string): void {
    this.#spill(this.#tableOf(name)).saveAll(path)
  }

  /** Keeps what was set so far. */
  checkpoint(): void {
    this.#undoLength = 0
    if (this.#count > this.#maxRows) this.#spillLargest()
  }

  /** Undoes what was set since the last checkpoint. */
  rollback(): void {
    while (this.#undoLength > 0) {
      this.#undoLength -= 1
      const table = this.#undoTables[this.#undoLength]
      const id = this.#undoIds[this.#undoLength] ?? ''
      const row = this.#undoRows[this.#undoLength]
      if (table === undefined) continue
      if (row === NOT_IN_MEMORY) this.#forget(table, id)
      else this.#write(table, id, table.cells.get(id), row)
    }
  }

  /** Starts to record the ids of rows that are set. */
  trackChanges(): void {
    this.#changed = new Map()
  }

  /** The ids set since `trackChanges`. */
  changed({ name }: Projection<unknown>): ReadonlySet<string> {
    return this.#changed?.get(name) ?? new Set()
  }

  [Symbol.dispose](): void {
    for (const { file } of this.#tables.values()) file?.[Symbol.dispose]()
  }

  #write(table: ReplayedTable, id: string, before: Cell | undefined, row: unknown): void {
    if (row === undefined && table.file === undefined) {
      this.#forget(table, id)
    } else if (before === undefined) {
      table.cells.set(id, { row, isChanged: true })
      this.#count += 1
    } else {
      before.row = row
      before.isChanged = true
    }
  }

  /** Takes a row out of memory. */
  #forget({ cells }: ReplayedTable, id: string): void {
    this.#lastReadTable = undefined
    if (cells.delete(id)) this.#count -= 1
  }

  /** Takes a row of the file into memory, as it is mostly set next. */
  #load({ name, cells, file }: ReplayedTable, id: string): Cell | undefined {
    const line = file?.get(id)
    if (line === undefined) return undefined
    const cell = { row: this.#rowTableOf(name).parseLine(line), isChanged: false }
    cells.set(id, cell)
    this.#count += 1
    return cell
  }

  #spillLargest(): void {
    let largest: ReplayedTable | undefined
    for (const table of this.#tables.values())
      if (largest === undefined || table.cells.size > largest.cells.size) largest = table
    if (largest !== undefined) this.#spill(largest)
  }

  /** Moves the rows of a table from memory to its file. */
  #spill(table: ReplayedTable): RowFile {
    const rowTable = this.#rowTableOf(table.name)
    const file = (table.file ??= new RowFile())
    file.write(changedLines(table, rowTable))
    this.#count -= table.cells.size
    table.cells = new Map()
    this.#lastReadTable = undefined
    return file
  }

  #tableOf(name: string): ReplayedTable {
    let table = this.#tables.get(name)
    if (table === undefined) this.#tables.set(name, (table = { name, cells: new Map(), file: undefined }))
    return table
  }

  #rowTableOf(name: string): RowTable {
    const table = this.#rowTables.get(name)
    if (table === undefined) throw new Error(`rows of ${name} cannot be written to a file`)
    return table
  }
}

/** The rows in memory that differ from the file, in the order of their ids. */
function* changedLines(
  { cells }: ReplayedTable,
  rowTable: RowTable,
): Generator<readonly [id: string, line: string | null], void> {
  for (const id of [...cells.keys()].sort()) {
    const cell = cells.get(id)
    if (cell?.isChanged === true) yield [id, cell.row === undefined ? null : rowTable.line(cell.row)]
  }
}

function addChange(changed: Map<string, Set<string>>, name: string, id: string): void {
  const ids = changed.get(name)
  if (ids === undefined) changed.set(name, new Set([id]))
  else ids.add(id)
}

/** Folds events, from the first on, into the rows that follow from them. */
export class Replay {
  readonly state: ReplayState
  readonly #evolve: EvolveWithMovements

  constructor(evolve: EvolveWithMovements, options?: ReplayOptions) {
    this.state = new ReplayState(options)
    this.#evolve = evolve
  }

  /**
   * Applies one event; `movements` are those of balances kept in `state`. When the rules reject the event this throws,
   * and `state` is as it was.
   */
  fold(event: EventWithoutMovements, movements: readonly Movement[]): void {
    try {
      this.#evolve(this.state, event, movements)
    } catch (error) {
      this.state.rollback()
      throw error
    }
    // Otherwise the undo log would grow with the ledger.
    this.state.checkpoint()
  }
}
