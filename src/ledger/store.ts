import { DatabaseError } from 'pg'
import { type Batch, type Head, type RememberedReply, rememberedAs } from './batch.ts'
import type { Command } from './command.ts'
import type { Key } from './decider.ts'
import { Pipeline } from './pipeline.ts'
import type { RowTable, Statement, TextRow } from './row-table.ts'
import { type Projection, Rows } from './state.ts'
import * as sql from './statements.ts'
import type { Micros } from './time.ts'

/** Rows that are kept in memory at most, some 150 bytes each. */
const KEPT_ROWS = 300_000

/** COMMIT was sent and not plainly answered: ask `committed` on another connection. */
export class LostCommit extends Error {}

export interface Opened {
  readonly head: Head
  /** The database's clock: one for all instances. */
  readonly now: Micros
  readonly rows: Rows
  readonly remembered: Map<string, RememberedReply>
}

/** The only writer of the ledger: one transaction at a time, two round trips each. */
export class Store {
  readonly #pipeline: Pipeline
  readonly #tables: ReadonlyMap<string, RowTable>
  readonly #derived: readonly Projection<unknown>[]
  /** Where the head stood after the last transaction, when that is known. */
  #position: number | undefined
  /** Whether nobody else had moved the head when the running transaction began. */
  #alone = false
  #kept: Rows | undefined

  private constructor(pipeline: Pipeline, tables: readonly RowTable[]) {
    this.#pipeline = pipeline
    this.#tables = new Map(tables.map((table) => [table.projection.name, table]))
    this.#derived = tables.filter(({ source }) => source === 'ledger').map(({ projection }) => projection)
  }

  /** Throws when the database cannot be reached within 3 seconds. */
  static async connect(url: string, tables: readonly RowTable[]): Promise<Store> {
    return new Store(await Pipeline.connect(url), tables)
  }

  get broken(): boolean {
    return this.#pipeline.broken
  }

  /**
   * Begins, locks the head, then loads what the commands read. Whoever waits here is next in line. As long as nobody
   * else moves the head, rows that were loaded or written before are still right and are not loaded again.
   */
  async begin(commands: readonly Command[]): Promise<Opened> {
    const reads = commands.flatMap((command) => command.reads)
    const kept = this.#kept
    this.#kept = undefined
    let rows = kept ?? new Rows()
    const unknown = this.#unknown(reads, rows)
    const remembering = sql.loadReplies(commands)
    const loads = unknown.map(({ load }) => load)
    const answers = await this.#pipeline.run([sql.begin, sql.lockHead, ...loads, ...remembering])
    const row = answers[1]?.rows[0]
    if (row === undefined) throw new Error('the ledger has no head')
    const head = { position: Number(row['position']), hash: String(row['hash']), at: Number(row['at']) }
    this.#alone = head.position === this.#position
    this.#position = undefined
    if (kept === undefined || this.#alone) {
      putIn(rows, unknown, answers.slice(2))
    } else {
      rows = new Rows()
      await this.#load(reads, rows)
    }
    await this.#follow(commands, rows)
    const replies = answers.slice(2 + loads.length).flatMap((answer) => answer.rows.map(sql.asReply))
    const remembered = new Map(replies.map((reply) => [rememberedAs(reply.actor, reply.key), reply]))
    return { head, now: Number(row['now']), rows, remembered }
  }

  /**
   * Appends what the batch made, with the rows it changed, its replies and the new head, and commits.
   * Throws `LostCommit` when that may have happened or not; any other error means that nothing happened.
   */
  async commit(id: string, batch: Batch, rows: Rows): Promise<void> {
    // All are made before any is sent: a row that cannot be written must not leave half of them on the wire.
    const statements = [
      ...(batch.entries.length > 0 ? [sql.insertEvents(batch)] : []),
      ...this.#changes(rows),
      ...(batch.replies.length > 0 ? [sql.insertReplies(batch)] : []),
      sql.closing(id, batch.head, batch.entries.length > 0),
      sql.commit,
    ]
    const results = await this.#pipeline.settle(statements)
    const answer = results.at(-1)
    if (answer?.status === 'fulfilled' && answer.value.command === 'COMMIT') return
    const failure = results.find((result) => result.status === 'rejected')
    // A transaction in which a statement failed answers ROLLBACK; a constraint that is checked at the end, its name.
    // Whatever else came instead of an answer (a shutdown in the middle of it, say) tells nothing.
    const over = answer?.status === 'fulfilled' || (answer !== undefined && isViolation(answer.reason))
    if (!over) throw new LostCommit('COMMIT was not answered', { cause: failure?.reason })
    throw failure?.reason ?? new Error('COMMIT was answered ROLLBACK')
  }

  /** The transaction is over and the head stands there: what is known of the ledger then is kept, if it is worth it. */
  keep(rows: Rows, head: Head): void {
    rows.settle(this.#derived)
    this.#position = head.position
    // Beside other writers what is kept would mostly be old, and finding that out costs a round trip.
    this.#kept = this.#alone && rows.size <= KEPT_ROWS ? rows : undefined
  }

  /** Leaves the transaction, if there still is one. */
  async rollback(): Promise<void> {
    await this.#pipeline.run([sql.rollback])
  }

  /**
   * Whether the batch happened. Locks the head first: the connection that was lost may still be committing,
   * and it holds the head until that is over.
   */
  async committed(id: string): Promise<boolean> {
    const [, , found] = await this.#pipeline.run([sql.begin, sql.lockHead, sql.findBatch(id), sql.rollback])
    return found !== undefined && found.rows.length > 0
  }

  /** Cuts the connection: a server that does not answer is not waited for. */
  cut(): void {
    this.#pipeline.cut()
  }

  async close(): Promise<void> {
    await this.#pipeline.close()
  }

  async #load(keys: readonly Key[], rows: Rows): Promise<void> {
    const unknown = this.#unknown(keys, rows)
    putIn(rows, unknown, await this.#pipeline.run(unknown.map(({ load }) => load)))
  }

  async #follow(commands: readonly Command[], rows: Rows): Promise<void> {
    for (;;) {
      const further = commands.flatMap((command) => command.follow(rows))
      if (further.every((key) => rows.knows(key.projection, key.id))) return
      await this.#load(further, rows)
    }
  }

  /** How to load what is not known of these rows; they count as known, and as absent, from here on. */
  #unknown(keys: readonly Key[], rows: Rows): Loading[] {
    const wanted = new Map<RowTable, string[]>()
    for (const { projection, id } of keys) {
      if (rows.knows(projection, id)) continue
      rows.put(projection, id, undefined)
      const table = this.#tables.get(projection.name)
      if (table === undefined) throw new Error(`no table for ${projection.name}`)
      const ids = wanted.get(table)
      if (ids === undefined) wanted.set(table, [id])
      else ids.push(id)
    }
    return [...wanted].map(([table, ids]) => ({ table, load: table.load(ids) }))
  }

  #changes(rows: Rows): Statement[] {
    return [...this.#tables.values()].flatMap((table) => {
      if (table.source === 'lookup') return []
      const saved: unknown[] = []
      const dropped: string[] = []
      for (const id of rows.changed(table.projection)) {
        const row = rows.all(table.projection).get(id)
        if (row === undefined) dropped.push(id)
        else saved.push(row)
      }
      // Dropped first: a unique word may pass from a row that goes to one that comes.
      return [...(dropped.length > 0 ? [table.drop(dropped)] : []), ...(saved.length > 0 ? [table.save(saved)] : [])]
    })
  }
}

interface Loading {
  readonly table: RowTable
  readonly load: Statement
}

function putIn(
  rows: Rows,
  loading: readonly Loading[],
  answers: readonly { readonly rows: readonly TextRow[] }[],
): void {
  loading.forEach(({ table }, i) => {
    for (const row of answers[i]?.rows ?? []) rows.put(table.projection, table.idOf(row), table.parse(row))
  })
}

const isViolation = (error: unknown): boolean => error instanceof DatabaseError && (error.code ?? '').startsWith('23')
