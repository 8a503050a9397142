import { Client, type QueryResult } from 'pg'
import { type Batch, type Head, type RememberedReply, rememberedAs } from './batch.ts'
import type { Command } from './command.ts'
import type { Key } from './decider.ts'
import type { RowTable, Statement, TextRow } from './row-table.ts'
import { Rows } from './state.ts'
import { isoMicros, type Micros } from './time.ts'

/** The answer to COMMIT was lost with the connection: ask `committed` on another one. */
export class LostCommit extends Error {}

export interface Opened {
  readonly head: Head
  /** The database's clock: one for all instances. */
  readonly now: Micros
  readonly rows: Rows
  readonly remembered: Map<string, RememberedReply>
}

const lockHead: Statement = {
  name: 'lock head',
  text: `select position, hash, (extract(epoch from at) * 1000000)::bigint as at from ledger_head for update`,
  values: [],
}
// Its own statement: the lock may have been waited for, and the clock is read after that.
const readClock: Statement = {
  name: 'read clock',
  text: `select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now`,
  values: [],
}
const loadReplies = (keys: readonly { actor: string; key: string }[]): Statement => ({
  name: 'load replies',
  text: `select r.* from unnest($1::text[], $2::text[]) as k (actor, key)
         join replies r on r.actor = k.actor and r.idempotency_key = k.key`,
  values: [keys.map(({ actor }) => actor), keys.map(({ key }) => key)],
})

/**
 * The only writer of the ledger: one connection, one transaction at a time, two round trips each. All
 * statements of a step are sent at once (pipelined) and are prepared once.
 */
export class Store {
  readonly #client: Client
  readonly #tables: ReadonlyMap<string, RowTable>
  #broken: Error | undefined

  private constructor(client: Client, tables: readonly RowTable[]) {
    this.#client = client
    this.#tables = new Map(tables.map((table) => [table.projection.name, table]))
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

  /** Begins, locks the head, then loads what the commands read. Whoever waits here is next in line. */
  async begin(commands: readonly Command[]): Promise<Opened> {
    const keys = commands
      .map(({ cause }) => ({ actor: cause.actor, key: cause.idempotency?.key }))
      .filter((k): k is { actor: string; key: string } => k.key !== undefined)
    const rows = new Rows()
    const begun = this.#send({ name: '', text: 'begin', values: [] })
    const locked = this.#send(lockHead)
    const clock = this.#send(readClock)
    const replied = keys.length > 0 ? this.#send(loadReplies(keys)) : undefined
    const loaded = this.#load(
      commands.flatMap((command) => command.reads),
      rows,
    )
    await all([begun, locked, clock, replied, loaded])
    const head = (await locked).rows[0]
    const now = (await clock).rows[0]?.['now']
    if (head === undefined || now === undefined) throw new Error('the ledger has no head')
    const opened = {
      head: { position: Number(head['position']), hash: String(head['hash']), at: Number(head['at']) },
      now: Number(now),
      rows,
      remembered: new Map((await replied)?.rows.map(asReply).map((r) => [rememberedAs(r.actor, r.key), r])),
    }
    await this.#follow(commands, rows)
    return opened
  }

  /**
   * Appends what the batch made, with the rows it changed, its replies and the new head, and commits.
   * Throws `LostCommit` when the connection broke meanwhile; any other error means that nothing happened.
   */
  async commit(id: string, batch: Batch, rows: Rows): Promise<void> {
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
    const commit = this.#send({ name: '', text: 'commit', values: [] })
    try {
      await all([...sent, commit])
    } catch (error) {
      if (this.#broken !== undefined)
        throw new LostCommit('the connection broke before COMMIT was answered', { cause: error })
      throw error
    }
    // COMMIT of a transaction in which something failed answers ROLLBACK.
    const { command } = await commit
    if (command !== 'COMMIT') throw new Error(`COMMIT was answered ${command}`)
  }

  /** Leaves the transaction. Only for one whose COMMIT was not sent. */
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

function insertEvents({ entries }: Batch): Statement {
  return {
    name: 'insert events',
    text: `insert into ledger_events
             (position, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash)
           select position, type, version, data, debit::text[], credit::text[], amount::bigint[], actor, at, request_id, idempotency_key, reply_hash, hash
           from unnest($1::bigint[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                       $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[])
             as e (position, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash)`,
    values: [
      entries.map((e) => e.position),
      entries.map((e) => e.type),
      entries.map((e) => e.version),
      entries.map((e) => e.data),
      // Account names need no quotes in an array's text.
      entries.map((e) => `{${e.movements.map((m) => m.debit).join(',')}}`),
      entries.map((e) => `{${e.movements.map((m) => m.credit).join(',')}}`),
      entries.map((e) => `{${e.movements.map((m) => m.amount).join(',')}}`),
      entries.map((e) => e.actor),
      entries.map((e) => isoMicros(e.at)),
      entries.map((e) => e.requestId),
      entries.map((e) => e.idempotencyKey),
      entries.map((e) => e.replyHash),
      entries.map((e) => e.hash),
    ],
  }
}

function insertReplies({ replies, head }: Batch): Statement {
  return {
    name: 'insert replies',
    text: `insert into replies (actor, idempotency_key, request_hash, status, body, at)
           select *, $6::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[])`,
    values: [
      replies.map((r) => r.actor),
      replies.map((r) => r.key),
      replies.map((r) => r.requestHash),
      replies.map((r) => r.status),
      replies.map((r) => r.body),
      isoMicros(head.at),
    ],
  }
}

/** The new head and the batch's id; followers on other instances get a hint when there are events. */
function closing(id: string, head: Head, events: boolean): Statement {
  return {
    name: events ? 'close' : 'close without events',
    text: `with moved as (
             update ledger_head set position = $2::bigint, hash = $3::text, at = $4::timestamptz
           )
           insert into ledger_batches (id, position) values ($1::uuid, $2::bigint)
           returning ${events ? `pg_notify('ledger', $2::text)` : '1'}`,
    values: [id, head.position, head.hash, isoMicros(head.at)],
  }
}

function asReply(row: TextRow): RememberedReply {
  return {
    actor: String(row['actor']),
    key: String(row['idempotency_key']),
    requestHash: String(row['request_hash']),
    status: Number(row['status']),
    body: String(row['body']),
  }
}
