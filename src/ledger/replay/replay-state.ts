import { type Balance, balances } from '../rules/account.ts'
import type { Projection } from '../rules/state.ts'
import type { WritableState } from '../rules/verb.ts'
import { Purses } from './balance-table.ts'
import type { GoingOver } from './sweep-cursor.ts'

/** A rule looks at a balance that is not watched: a fault of the program's. */
export class Elsewhere extends Error {}

interface Held {
  row: unknown
  /** In which going over it was taken last. */
  taken: number
}

/**
 * All rows that follow from the events so far: one that is not here does not exist. Only of balances some may be kept
 * elsewhere alone, and are not to be looked at until they are brought here.
 */
export class WholeRows implements WritableState {
  #purses = new Purses()
  readonly #tables = new Map<string, Map<string, Held>>()
  #goings = 0
  /** The row that was read last: mostly it is set next, and need not be looked up again then. */
  #readIn: Map<string, Held> | undefined
  #readId = ''
  #read: Held | undefined
  /** What was set since the last checkpoint, place by place: in which rows, which one, and what it was before. */
  readonly #setIn: Map<string, Held>[] = []
  readonly #setIds: string[] = []
  readonly #before: unknown[] = []
  /** So many places count. What is behind them is old and waits to be written over: nothing is made for an event. */
  #sets = 0
  #keeps: (account: string) => boolean
  /** By projection, what was set since `track`; nothing is noted before. */
  #changed: Map<string, Set<string>> | undefined

  /** `keeps`: the accounts whose balances are kept here. */
  constructor(keeps: (account: string) => boolean = () => true) {
    this.#keeps = keeps
  }

  get<Row>({ name }: Projection<Row>, id: string): Row | undefined {
    // What is under a projection's name was put in through that projection, whose type this is.
    if (name === balances.name) return this.#balance(id) as Row | undefined
    const rows = this.#rows(name)
    const held = rows.get(id)
    if (held === undefined) return undefined
    this.#readIn = rows
    this.#readId = id
    this.#read = held
    return held.row as Row
  }

  set<Row>({ name }: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void {
    if (this.#changed !== undefined) note(this.#changed, name, id)
    if (name === balances.name) return this.#purses.set(id, (row as Balance | undefined)?.balance)
    const rows = this.#rows(name)
    const held = this.#readIn === rows && this.#readId === id ? this.#read : rows.get(id)
    this.#setIn[this.#sets] = rows
    this.#setIds[this.#sets] = id
    this.#before[this.#sets] = held?.row
    this.#sets += 1
    this.#put(rows, id, held, row)
  }

  add(account: string, change: number | bigint): number | bigint {
    if (!this.#keeps(account)) return 0
    if (this.#changed !== undefined) note(this.#changed, balances.name, account)
    return this.#purses.add(account, change)
  }

  /** Has all balances from where they were kept, also those that are here. From then on they are kept here. */
  bring(accounts: readonly string[], those: readonly (number | bigint)[]): void {
    this.#keeps = () => true
    this.#purses = new Purses()
    for (const [i, account] of accounts.entries()) {
      this.#purses.add(account, those[i] ?? 0)
      this.#purses.checkpoint()
    }
  }

  knows(): boolean {
    return true
  }

  goOver({ name }: Projection<unknown>): GoingOver {
    if (name === balances.name) return this.#purses.goOver()
    const rows = this.#rows(name)
    // A mark on the row itself: with a set of all ids to take from, comparing takes a quarter as long again.
    const going = (this.#goings += 1)
    return {
      take: (id) => {
        const held = rows.get(id)
        if (held === undefined || held.taken === going) return undefined
        held.taken = going
        return held.row
      },
      *left() {
        for (const [id, { taken }] of rows) if (taken !== going) yield id
      },
    }
  }

  /** Ids of all rows of a projection, in no order. */
  ids({ name }: Projection<unknown>): Iterable<string> {
    return name === balances.name ? this.#purses.accounts() : this.#rows(name).keys()
  }

  /** What was set until now stays. */
  checkpoint(): void {
    this.#purses.checkpoint()
    this.#sets = 0
  }

  /** Takes back what was set since the last checkpoint. */
  rollback(): void {
    this.#purses.rollback()
    while (this.#sets > 0) {
      this.#sets -= 1
      const rows = this.#setIn[this.#sets]
      const id = this.#setIds[this.#sets] ?? ''
      if (rows !== undefined) this.#put(rows, id, rows.get(id), this.#before[this.#sets])
    }
  }

  /** From here on the ids of what is set are noted. */
  track(): void {
    this.#changed = new Map()
  }

  /** Ids that were set since `track`. */
  changed({ name }: Projection<unknown>): ReadonlySet<string> {
    return this.#changed?.get(name) ?? new Set()
  }

  #balance(account: string): Balance | undefined {
    if (!this.#keeps(account)) throw new Elsewhere(`the balance of ${account} is not kept here`)
    const balance = this.#purses.get(account)
    return balance === undefined ? undefined : { account, balance }
  }

  #put(rows: Map<string, Held>, id: string, held: Held | undefined, row: unknown): void {
    if (row === undefined) {
      this.#readIn = undefined
      rows.delete(id)
    } else if (held === undefined) {
      rows.set(id, { row, taken: 0 })
    } else {
      held.row = row
    }
  }

  #rows(name: string): Map<string, Held> {
    let rows = this.#tables.get(name)
    if (rows === undefined) this.#tables.set(name, (rows = new Map()))
    return rows
  }
}

function note(changed: Map<string, Set<string>>, name: string, id: string): void {
  const ids = changed.get(name)
  if (ids === undefined) changed.set(name, new Set([id]))
  else ids.add(id)
}
