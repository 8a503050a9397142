import { type Balance, balances } from '../rules/account.ts'
import type { Projection } from '../rules/projection.ts'
import type { WritableState } from '../rules/state.ts'
import { BalanceTable } from './balance-table.ts'
import type { SweepCursor } from './sweep-cursor.ts'

/** A rule looks at a balance that is not watched: a fault of the program's. */
export class NotLoaded extends Error {}

interface MarkedRow {
  row: unknown
  /** In which going over it was taken last. */
  sweep: number
}

/**
 * All rows that follow from the events so far: one that is not here does not exist. Only of balances some may be kept
 * elsewhere alone, and are not to be looked at until they are brought here.
 */
export class ReplayState implements WritableState {
  #balances = new BalanceTable()
  readonly #tables = new Map<string, Map<string, MarkedRow>>()
  #sweeps = 0
  /** The row that was read last: mostly it is set next, and need not be looked up again then. */
  #lastReadTable: Map<string, MarkedRow> | undefined
  #lastReadId = ''
  #lastRead: MarkedRow | undefined
  /** What was set since the last checkpoint, place by place: in which rows, which one, and what it was before. */
  readonly #undoTables: Map<string, MarkedRow>[] = []
  readonly #undoIds: string[] = []
  readonly #undoRows: unknown[] = []
  /** So many places count. What is behind them is old and waits to be written over: nothing is made for an event. */
  #undoLength = 0
  #keepsBalance: (account: string) => boolean
  /** By projection, what was set since `track`; nothing is noted before. */
  #changed: Map<string, Set<string>> | undefined

  /** `keeps`: the accounts whose balances are kept here. */
  constructor(keeps: (account: string) => boolean = () => true) {
    this.#keepsBalance = keeps
  }

  get<Row>({ name }: Projection<Row>, id: string): Row | undefined {
    // What is under a projection's name was put in through that projection, whose type this is.
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

  /** Has all balances from where they were kept, also those that are here. From then on they are kept here. */
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
    // A mark on the row itself: with a set of all ids to take from, comparing takes a quarter as long again.
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

  /** Ids of all rows of a projection, in no order. */
  ids({ name }: Projection<unknown>): Iterable<string> {
    return name === balances.name ? this.#balances.accounts() : this.#tableOf(name).keys()
  }

  /** What was set until now stays. */
  checkpoint(): void {
    this.#balances.checkpoint()
    this.#undoLength = 0
  }

  /** Takes back what was set since the last checkpoint. */
  rollback(): void {
    this.#balances.rollback()
    while (this.#undoLength > 0) {
      this.#undoLength -= 1
      const rows = this.#undoTables[this.#undoLength]
      const id = this.#undoIds[this.#undoLength] ?? ''
      if (rows !== undefined) this.#write(rows, id, rows.get(id), this.#undoRows[this.#undoLength])
    }
  }

  /** From here on the ids of what is set are noted. */
  trackChanges(): void {
    this.#changed = new Map()
  }

  /** Ids that were set since `track`. */
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
