import { balances, type Movement } from '../rules/account.ts'
import type { EventWithoutMovements, EvolveWithMovements } from '../rules/event.ts'
import type { Projection, WritableState } from '../rules/projection.ts'

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
    if (name === balances.name && !this.#keepsBalance(id)) throw new NotLoaded(`the balance of ${id} is not kept here`)
    const rows = this.#tableOf(name)
    const found = rows.get(id)
    if (found === undefined) return undefined
    this.#lastReadTable = rows
    this.#lastReadId = id
    this.#lastRead = found
    // Rows are put in through the projection of this name, whose type this is.
    return found.row as Row
  }

  set<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    if (this.#changed !== undefined) addChange(this.#changed, name, id)
    const rows = this.#tableOf(name)
    const before = this.#lastReadTable === rows && this.#lastReadId === id ? this.#lastRead : rows.get(id)
    this.#undoTables[this.#undoLength] = rows
    this.#undoIds[this.#undoLength] = id
    this.#undoRows[this.#undoLength] = before?.row
    this.#undoLength += 1
    this.#write(rows, id, before, row)
  }

  add(account: string, change: number | bigint): number | bigint {
    if (!this.#keepsBalance(account)) return 0
    const balance = (this.get(balances, account)?.balance ?? 0n) + BigInt(change)
    this.set(balances, account, { account, balance })
    return balance
  }

  /** Replaces all balances by those kept elsewhere; from then on they are kept here. */
  importBalances(accounts: readonly string[], those: readonly (number | bigint)[]): void {
    this.#keepsBalance = () => true
    this.#lastReadTable = undefined
    const rows = new Map<string, MarkedRow>()
    this.#tables.set(balances.name, rows)
    for (const [i, account] of accounts.entries())
      rows.set(account, { row: { account, balance: BigInt(those[i] ?? 0) }, sweep: 0 })
  }

  isLoaded(): boolean {
    return true
  }

  sweep({ name }: Projection<unknown>): SweepCursor {
    const rows = this.#tableOf(name)
    // A mark on the row: with a set of ids instead, comparing takes a quarter longer.
    const sweep = (this.#sweeps += 1)
    return {
      visit: (id) => {
        const found = rows.get(id)
        if (found === undefined || found.sweep === sweep) return undefined
        found.sweep = sweep
        return found.row
      },
      *unvisited() {
        for (const [id, row] of rows) if (row.sweep !== sweep) yield id
      },
    }
  }

  /** The ids of all rows of a projection, in no order. */
  ids({ name }: Projection<unknown>): Iterable<string> {
    return this.#tableOf(name).keys()
  }

  /** Keeps what was set so far. */
  checkpoint(): void {
    this.#undoLength = 0
  }

  /** Undoes what was set since the last checkpoint. */
  rollback(): void {
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

  #write(rows: Map<string, MarkedRow>, id: string, before: MarkedRow | undefined, row: unknown): void {
    if (row === undefined) {
      this.#lastReadTable = undefined
      rows.delete(id)
    } else if (before === undefined) {
      rows.set(id, { row, sweep: 0 })
    } else {
      before.row = row
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

/** One pass over all rows of a projection: mark the rows that a table has, then sweep those left unmarked. */
interface SweepCursor {
  /** The row of this id; undefined when there is none, or when it was visited before. */
  visit(id: string): unknown
  /** The ids of the rows not visited, in no order. */
  unvisited(): Iterable<string>
}

/** Folds events, from the first on, into the rows that follow from them. */
export class Replay {
  readonly state: ReplayState
  readonly #evolve: EvolveWithMovements

  /** `keepsBalance`: whether an account's balance is kept in `state`. */
  constructor(evolve: EvolveWithMovements, keepsBalance?: (account: string) => boolean) {
    this.state = new ReplayState(keepsBalance)
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
