import { type Balance, balances } from '../rules/account.ts'
import type { Projection } from '../rules/projection.ts'
import type { WritableState } from '../rules/state.ts'
import { BalanceTable } from './balance-table.ts'
import type { SweepCursor } from './sweep-cursor.ts'

/** An evolver read a balance that `isReadByEvolvers` does not name: a bug. */
export class NotLoaded extends Error {}

interface MarkedRow {
  row: unknown
  /** The sweep in which it was last visited. */
  sweep: number
}

/**
 * All rows that follow from the events so far: a row that is not here does not exist. Only some balances may be kept
 * elsewhere; reading one throws `NotLoaded` until they are imported.
 */
export class ReplayState implements WritableState {
  #balances = new BalanceTable()
  readonly #tables = new Map<string, Map<string, MarkedRow>>()
  #sweeps = 0
  /** The row read last: mostly it is set next, which then needs no lookup. */
  #lastReadTable: Map<string, MarkedRow> | undefined
  #lastReadId = ''
  #lastRead: MarkedRow | undefined
  /** What was set since the last checkpoint: its table, its id, and the row before. */
  readonly #undoTables: Map<string, MarkedRow>[] = []
  readonly #undoIds: string[] = []
  readonly #undoRows: unknown[] = []
  /** How many entries count; those beyond are reused, so that an event allocates nothing. */
  #undoLength = 0
  #keepsBalance: (account: string) => boolean
  /** By projection, the ids set since `trackChanges`. */
  #changed: Map<string, Set<string>> | undefined

  /** `keepsBalance`: whether an account's balance is kept here. */
  constructor(keepsBalance: (account: string) => boolean = () => true) {
    this.#keepsBalance = keepsBalance
  }

  get<Row>({ name }: Projection<Row>, id: string): Row | undefined {
    // Rows are put in through the projection of this name, whose type this is.
    if (name === balances.name) return this.#balance(id) as Row | undefined
    const rows = this.#tableOf(name)
    const held = rows.get(id)
    if (held === undefined) return undefined
    this.#lastReadTable = rows
    this.#lastReadId = id
    this.#lastRead = held
    return held.row as Row
  }

  set<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    if (this.#changed !== undefined) addChange(this.#changed, name, id)
    if (name === balances.name) return this.#balances.set(id, (row as Balance | undefined)?.balance)
    const rows = this.#tableOf(name)
    const held = this.#lastReadTable === rows && this.#lastReadId === id ? this.#lastRead : rows.get(id)
    this.#undoTables[this.#undoLength] = rows
    this.#undoIds[this.#undoLength] = id
    this.#undoRows[this.#undoLength] = held?.row
    this.#undoLength += 1
    this.#write(rows, id, held, row)
  }

  add(account: string, change: number | bigint): number | bigint {
    if (!this.#keepsBalance(account)) return 0
    if (this.#changed !== undefined) addChange(this.#changed, balances.name, account)
    return this.#balances.add(account, change)
  }

  /** Replaces all balances by those kept elsewhere; from then on they are kept here. */
  importBalances(accounts: readonly string[], those: readonly (number | bigint)[]): void {
    this.#keepsBalance = () => true
    this.#balances = new BalanceTable()
    for (const [i, account] of accounts.entries()) {
      this.#balances.add(account, those[i] ?? 0)
      this.#balances.checkpoint()
    }
  }

  isLoaded(): boolean {
    return true
  }

  sweep({ name }: Projection<unknown>): SweepCursor {
    if (name === balances.name) return this.#balances.sweep()
    const rows = this.#tableOf(name)
    // A mark on the row: with a set of ids instead, comparing takes a quarter longer.
    const going = (this.#sweeps += 1)
    return {
      visit: (id) => {
        const held = rows.get(id)
        if (held === undefined || held.sweep === going) return undefined
        held.sweep = going
        return held.row
      },
      *unvisited() {
        for (const [id, { sweep: taken }] of rows) if (taken !== going) yield id
      },
    }
  }

  /** The ids of all rows of a projection, in no order. */
  ids({ name }: Projection<unknown>): Iterable<string> {
    return name === balances.name ? this.#balances.accounts() : this.#tableOf(name).keys()
  }

  /** Keeps what was set so far. */
  checkpoint(): void {
    this.#balances.checkpoint()
    this.#undoLength = 0
  }

  /** Undoes what was set since the last checkpoint. */
  rollback(): void {
    this.#balances.rollback()
    while (this.#undoLength > 0) {
      this.#undoLength -= 1
      const rows = this.#undoTables[this.#undoLength]
      const id = this.#undoIds[this.#undoLength] ?? ''
      if (rows !== undefined) this.#write(rows, id, rows.get(id), this.#undoRows[this.#undoLength])
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

  #balance(account: string): Balance | undefined {
    if (!this.#keepsBalance(account)) throw new NotLoaded(`the balance of ${account} is not kept here`)
    const balance = this.#balances.get(account)
    return balance === undefined ? undefined : { account, balance }
  }

  #write(rows: Map<string, MarkedRow>, id: string, held: MarkedRow | undefined, row: unknown): void {
    if (row === undefined) {
      this.#lastReadTable = undefined
      rows.delete(id)
    } else if (held === undefined) {
      rows.set(id, { row, sweep: 0 })
    } else {
      held.row = row
    }
  }

  #tableOf(name: string): Map<string, MarkedRow> {
    let rows = this.#tables.get(name)
    if (rows === undefined) this.#tables.set(name, (rows = new Map()))
    return rows
  }
}

function addChange(changed: Map<string, Set<string>>, name: string, id: string): void {
  const ids = changed.get(name)
  if (ids === undefined) changed.set(name, new Set([id]))
  else ids.add(id)
}
