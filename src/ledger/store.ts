import { Client, DatabaseError, type QueryResult } from 'pg'
import { type Batch, type Head, type RememberedReply, rememberedAs } from './batch.ts'
import type { Command } from './command.ts'
import type { Key } from './decider.ts'
import type { RowTable, Statement, TextRow } from './row-table.ts'
import { type Projection, Rows } from './state.ts'
import { asReply, closing, insertEvents, insertReplies, loadReplies, lockHead } from './statements.ts'
import type { Micros } from './time.ts'

/** Rows that are kept in memory at most, some 150 bytes each. */
const KEPT_ROWS = 300_000

/** The answer to COMMIT was lost with the connection: ask `committed` on another one. */
export class LostCommit extends Error {}

export interface Opened {
  readonly head: Head
  /** The database's clock: one for all instances. */
  readonly now: Micros
  readonly rows: Rows
  readonly remembered: Map<string, RememberedReply>
}

/**
 * The only writer of the ledger: one connection, one transaction at a time, two round trips each. All
 * statements of a step are sent at once (pipelined) and are prepared once.
 */
export class Store {
  readonly #client: Client
  readonly #tables: ReadonlyMap<string, RowTable>
  readonly #derived: readonly Projection<unknown>[]
  #broken: Error | undefined
  /** Where the head stood after the last transaction, when that is known. */
  #position: number | undefined
  /** Whether nobody else had moved the head when the running transaction began. */
  #alone = false
  #kept: Rows | undefined

  private constructor(client: Client, tables: readonly RowTable[]) {
    this.#client = client
    this.#tables = new Map(tables.map((table) => [table.projection.name, table]))
    this.#derived = tables.filter(({ source }) => source === 'ledger').map(({ projection }) => projection)
    client.on('error', (error) => {
      this.#broken ??= error
    })
  }

  /** Throws when the database cannot be reached within 3 seconds. */
  static async connect(url: string, tables: readonly RowTable[]): Promise<Store> {
    const client = new Client({
      connectionString: url,
      application_name: 'ledger writer',
      connectionTimeoutMillis: 3000,
      keepAlive: true,
      pipeline: true,
      types: { getTypeParser: () => (text: string) => text },
      options: [
        // A writer that vanished while it held the head frees it soon.
        '-c idle_in_transaction_session_timeout=5s -c lock_timeout=5s -c statement_timeout=10s',
        '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3',
        // All look-ups are by primary key, whatever the tables held when the plan was made.
        '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off',
        '-c jit=off -c timezone=UTC',
      ].join(' '),
    })
    const store = new Store(client, tables)
    await client.connect()
    return store
  }

  get broken(): boolean {
    return this.#broken !== undefined
  }

  /**
   * Begins, locks the head, then loads what the commands read. Whoever waits here is next in line. As long as nobody
   * else moves the head, rows that were loaded or written before are still right and are not loaded again.
   */
  async begin(commands: readonly Command[]): Promise<Opened> {
    const keys = commands
      .map(({ cause }) => ({ actor: cause.actor, key: cause.idempotency?.key }))
      .filter((k): k is { actor: string; key: string } => k.key !== undefined)
    const reads = commands.flatMap((command) => command.reads)
    const kept = this.#kept
    this.#kept = undefined
    let rows = kept ?? new Rows()
    const { stream } = this.#client.connection
    stream.cork()
    const begun = this.#send({ name: '', text: 'begin', values: [] })
    const locked = this.#send(lockHead)
    const replied = keys.length > 0 ? this.#send(loadReplies(keys)) : undefined
    const loaded = this.#load(reads, rows)
    stream.uncork()
    await all([begun, locked, replied, loaded])
    const row = (await locked).rows[0]
    if (row === undefined) throw new Error('the ledger has no head')
    const head = { position: Number(row['position']), hash: String(row['hash']), at: Number(row['at']) }
    this.#alone = head.position === this.#position
    this.#position = undefined
    if (kept !== undefined && !this.#alone) {
      rows = new Rows()
      await this.#load(reads, rows)
    }
    await this.#follow(commands, rows)
    const remembered = new Map((await replied)?.rows.map(asReply).map((r) => [rememberedAs(r.actor, r.key), r]))
    return { head, now: Number(row['now']), rows, remembered }
  }

  /** The transaction is over and the head stands there: what is known of the ledger then is kept, if it is worth it. */
  keep(rows: Rows, head: Head): void {
    rows.settle(this.#derived)
    this.#position = head.position
    // Beside other writers what is kept would mostly be old, and finding that out costs a round trip.
    this.#kept = this.#alone && rows.size <= KEPT_ROWS ? rows : undefined
  }

  /**
   * Appends what the batch made, with the rows it changed, its replies and the new head, and commits.
   * Throws `LostCommit` when that may have happened or not; any other error means that nothing happened.
   */
  async commit(id: string, batch: Batch, rows: Rows): Promise<void> {
    const { stream } = this.#client.connection
    // All in one write: the kernel is asked once, and not once a statement.
    stream.cork()
    const sent: Promise<QueryResult<TextRow>>[] = []
    if (batch.entries.length > 0) sent.push(this.#send(insertEvents(batch)))
    for (const table of this.#tables.values()) {
      if (table.source === 'lookup') continue
      const { saved, dropped } = changes(table, rows)
      // Dropped first: a unique word may pass from a row that goes to one that comes.
      if (dropped.length > 0) sent.push(this.#send(table.drop(dropped)))
      if (saved.length > 0) sent.push(this.#send(table.save(saved)))
    }
    if (batch.replies.length > 0) sent.push(this.#send(insertReplies(batch)))
    sent.push(this.#send(closing(id, batch.head, batch.entries.length > 0)))
    sent.push(this.#send({ name: '', text: 'commit', values: [] }))
    stream.uncork()
    const results = await Promise.allSettled(sent)
    const answer = results.at(-1)
    if (answer?.status === 'fulfilled' && answer.value.command === 'COMMIT') return
    const failure = results.find((result) => result.status === 'rejected')
    // A transaction in which a statement failed answers ROLLBACK; a constraint that is checked at the end, its name.
    // Whatever else came instead of an answer (a shutdown in the middle of it, say) tells nothing.
    const over = answer?.status === 'fulfilled' || (answer !== undefined && isViolation(answer.reason))
    if (!over) throw new LostCommit('COMMIT was not answered', { cause: failure?.reason })
    throw failure?.reason ?? new Error('COMMIT was answered ROLLBACK')
  }

  /** Leaves the transaction, if there still is one. */
  async rollback(): Promise<void> {
    await this.#send({ name: '', text: 'rollback', values: [] })
  }

  /**
   * Whether the batch happened. Locks the head first: the connection that was lost may still be committing,
   * and it holds the head until that is over.
   */
  async committed(id: string): Promise<boolean> {
    const begun = this.#send({ name: '', text: 'begin', values: [] })
    const locked = this.#send(lockHead)
    const found = this.#send({ name: 'find batch', text: 'select 1 from ledger_batches where id = $1', values: [id] })
    const over = this.#send({ name: '', text: 'rollback', values: [] })
    await all([begun, locked, found, over])
    return (await found).rows.length > 0
  }

  /** Cuts the connection: a server that does not answer is not waited for. */
  cut(): void {
    this.#broken ??= new Error('the connection was cut')
    // The driver's stream is a socket on Node.
    this.#client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  async #load(keys: readonly Key[], rows: Rows): Promise<void> {
    const ids = new Map<string, string[]>()
    for (const key of keys) {
      if (rows.knows(key.projection, key.id)) continue
      rows.put(key.projection, key.id, undefined)
      const wanted = ids.get(key.projection.name)
      if (wanted === undefined) ids.set(key.projection.name, [key.id])
      else wanted.push(key.id)
    }
    await all(
      [...ids].map(async ([name, wanted]) => {
        const table = this.#tables.get(name)
        if (table === undefined) throw new Error(`no table for ${name}`)
        const found = await this.#send(table.load(wanted))
        for (const row of found.rows) rows.put(table.projection, table.idOf(row), table.parse(row))
      }),
    )
  }

  async #follow(commands: readonly Command[], rows: Rows): Promise<void> {
    for (;;) {
      const further = commands.flatMap((command) => command.follow(rows))
      if (further.every((key) => rows.knows(key.projection, key.id))) return
      await this.#load(further, rows)
    }
  }

  #send({ name, text, values }: Statement): Promise<QueryResult<TextRow>> {
    return this.#client.query<TextRow>(name === '' ? { text } : { name, text, values })
  }
}

const isViolation = (error: unknown): boolean => error instanceof DatabaseError && (error.code ?? '').startsWith('23')

/** Waits for all, also when one fails, so that no answer is left on the wire; then throws the first failure. */
async function all(promises: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  for (const result of await Promise.allSettled(promises.filter((promise) => promise !== undefined))) {
    if (result.status === 'rejected') throw result.reason
  }
}

function changes(table: RowTable, rows: Rows): { saved: unknown[]; dropped: string[] } {
  const saved: unknown[] = []
  const dropped: string[] = []
  for (const id of rows.changed(table.projection)) {
    const row = rows.all(table.projection).get(id)
    if (row === undefined) dropped.push(id)
    else saved.push(row)
  }
  return { saved, dropped }
}
