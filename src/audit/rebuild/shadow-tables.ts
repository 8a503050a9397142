import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, escapeIdentifier } from 'pg'
import { from } from 'pg-copy-streams'
import { connect } from '../../db/connect.ts'
import type { ReplayState } from '../../ledger/replay/replay-state.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'

/** Where the new tables are until they are swapped in. What a rebuild that was killed left there goes with the next. */
const SCHEMA = 'rebuilt'
/** Any number that nothing else uses, in the service's database. */
const ADVISORY_LOCK_KEY = 5_202_611_210_005
/** Lines that go to PostgreSQL in one write, and rows in one statement. */
const CHUNK_ROWS = 500
/** How long the swap may wait for whoever reads a table; commands wait as long. They bear 5 s. */
const SWAP_LOCK_TIMEOUT = '2s'
/** A transaction that is seen twice, so far apart, is one to be waited for; so long. */
const READER_POLL_MS = 300
const MAX_READER_WAIT_MS = 300_000

/** How a table is made beside the live one, as PostgreSQL's catalogue tells. */
interface TableDefinition {
  readonly name: string
  readonly owner: string
  /** Storage parameters, such as `fillfactor=60`. */
  readonly options: string[] | null
  /** Keys, as `alter table … add` takes them. */
  readonly constraints: readonly string[]
  /** `create index …` of those that belong to no key, without a schema. */
  readonly indexes: readonly string[]
}

/**
 * New tables of all projections of the ledger, beside the live ones in a schema of their own: made, filled, kept up to
 * date, and swapped in. By the role that owns the tables.
 */
export class ShadowTables {
  readonly #client: Client
  readonly #tables: readonly RowTable[]
  readonly #definitions: readonly TableDefinition[]

  private constructor(client: Client, tables: readonly RowTable[], forms: readonly TableDefinition[]) {
    this.#client = client
    this.#tables = tables
    this.#definitions = forms
  }

  /** Empty ones, without keys and indexes. Throws when another rebuild is under way, or a table cannot be swapped. */
  static async create(ownerUrl: string, tables: readonly RowTable[]): Promise<ShadowTables> {
    const client = await connect(ownerUrl, 'ledger rebuild')
    try {
      await client.query(`set statement_timeout = 0; set idle_in_transaction_session_timeout = 0;
        set synchronous_commit = on; set timezone = 'UTC'; set search_path = public`)
      const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
        ADVISORY_LOCK_KEY,
      ])
      if (rows[0]?.mine !== true) throw new Error('Another rebuild is under way.')
      await client.query(`drop schema if exists ${SCHEMA} cascade; create schema ${SCHEMA}`)
      const forms: TableDefinition[] = []
      for (const { projection } of tables) forms.push(await readDefinition(client, projection.name))
      for (const form of forms) await client.query(createTableSql(form))
      await client.query(`set search_path = ${SCHEMA}, public`)
      return new ShadowTables(client, tables, forms)
    } catch (error) {
      await client.end()
      throw error
    }
  }

  /** Writes all rows, then makes keys and indexes. Answers how many rows there are. */
  async fill(rows: ReplayState, onPage: () => Promise<void>): Promise<number> {
    let count = 0
    for (const table of this.#tables) {
      const lines = async function* (): AsyncGenerator<string, void> {
        let chunk: string[] = []
        for (const id of rows.ids(table.projection)) {
          chunk.push(table.copyLine(rows.get(table.projection, id)))
          if (chunk.length < CHUNK_ROWS) continue
          count += chunk.length
          yield chunk.join('')
          chunk = []
          await onPage()
        }
        count += chunk.length
        if (chunk.length > 0) yield chunk.join('')
      }
      await pipeline(lines, this.#client.query(from(table.copyIn)))
    }
    for (const { name, constraints, indexes } of this.#definitions) {
      for (const constraint of constraints) await this.#client.query(`alter table ${name} add ${constraint}`)
      for (const index of indexes) await this.#client.query(index)
      await this.#client.query(`analyze ${name}`)
      await onPage()
    }
    return count
  }

  /** Brings the rows up to date that changed since they are tracked. */
  async update(rows: ReplayState): Promise<void> {
    for (const table of this.#tables) {
      const ids = [...rows.changed(table.projection)]
      for (let i = 0; i < ids.length; i += CHUNK_ROWS) {
        const some = ids.slice(i, i + CHUNK_ROWS)
        const there = some.flatMap((id) => rows.get(table.projection, id) ?? [])
        const gone = some.filter((id) => rows.get(table.projection, id) === undefined)
        for (const { text, values } of [
          ...(gone.length > 0 ? [table.remove(gone)] : []),
          ...(there.length > 0 ? [table.save(there)] : []),
        ]) {
          await this.#client.query({ text, values })
        }
      }
    }
  }

  /** Waits while somebody reads the live tables for longer than a request does. Throws when that takes minutes. */
  async waitForReaders(signal: AbortSignal): Promise<void> {
    const until = performance.now() + MAX_READER_WAIT_MS
    let before = await this.#readers()
    while (before.length > 0) {
      await sleep(READER_POLL_MS, null, { signal })
      const now = await this.#readers()
      before = now.filter((reader) => before.includes(reader))
      if (performance.now() > until) {
        throw new Error('Somebody reads the tables all the time: they could not be swapped. Nothing was changed.')
      }
    }
  }

  /** The transactions that hold one of the live tables. */
  async #readers(): Promise<string[]> {
    const { rows } = await this.#client.query<{ transaction: string }>(
      `select distinct virtualtransaction as transaction from pg_locks
       where granted and pid <> pg_backend_pid() and mode = 'AccessShareLock'
         and database = (select oid from pg_database where datname = current_database())
         and relation = any ($1::regclass[])`,
      [this.#definitions.map(({ name }) => `public.${name}`)],
    )
    return rows.map(({ transaction }) => transaction)
  }

  /**
   * In one transaction: no command is run from here on, `catchUp` brings the rows up to date, and the new tables take
   * the places of the live ones with their owners and grants. Instances that keep rows in memory see that the last
   * batch is not the one they know, and load theirs anew. Answers whether it happened: not when somebody reads a table
   * for too long. Then all is as before and it may be tried again.
   */
  async swap(catchUp: () => Promise<void>): Promise<boolean> {
    await this.#client.query(`begin isolation level read committed; set local lock_timeout = '${SWAP_LOCK_TIMEOUT}'`)
    try {
      // Every command takes the head before any table, and none waits for it while it holds one. Who reads is let by.
      await this.#client.query('lock table public.ledger_head in exclusive mode')
      await catchUp()
      await this.#client.query(`lock table ${this.#definitions.map(({ name }) => `public.${name}`).join(', ')}`)
      for (const { name, owner } of this.#definitions) {
        await this.#client.query(`alter table ${SCHEMA}.${name} owner to ${escapeIdentifier(owner)}`)
        for (const grant of await readGrants(this.#client, name)) await this.#client.query(grant)
        await this.#client.query(`drop table public.${name}; alter table ${SCHEMA}.${name} set schema public`)
      }
      await this.#client.query(`drop schema ${SCHEMA}; update public.ledger_head set batch = gen_random_uuid()`)
      await this.#client.query('commit')
      return true
    } catch (error) {
      await this.#client.query('rollback')
      if (isLockConflict(error)) return false
      throw error
    }
  }

  /** Takes away what was not swapped in. */
  async close(): Promise<void> {
    try {
      await this.#client.query(`drop schema if exists ${SCHEMA} cascade`)
    } finally {
      await this.#client.end()
    }
  }
}

/** lock_not_available, deadlock_detected */
const isLockConflict = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '40P01')

const createTableSql = ({ name, options }: TableDefinition): string => `
  create table ${SCHEMA}.${name} (like public.${name} including all excluding indexes)
  ${options === null ? '' : `with (${options.join(', ')})`}`

/** Throws when something hangs on the table that would not come along. */
async function readDefinition(client: Client, name: string): Promise<TableDefinition> {
  const table = `'public.${name}'::regclass`
  const { rows: hanging } = await client.query<{ what: string }>(`
    select pg_describe_object(classid, objid, objsubid) as what from pg_depend
    where refclassid = 'pg_class'::regclass and refobjid = ${table} and deptype = 'n'
      and classid in ('pg_rewrite'::regclass, 'pg_constraint'::regclass)
    union all
    select 'trigger ' || tgname from pg_trigger where tgrelid = ${table} and not tgisinternal
    union all
    select 'foreign key ' || conname from pg_constraint where contype = 'f' and conrelid = ${table}`)
  if (hanging[0] !== undefined) throw new Error(`Table ${name} cannot be swapped: ${hanging[0].what} hangs on it.`)
  const { rows } = await client.query<{ owner: string; options: string[] | null }>(
    `select pg_get_userbyid(relowner) as owner, reloptions as options from pg_class where oid = ${table}`,
  )
  const [form] = rows
  if (form === undefined) throw new Error(`There is no table ${name}.`)
  const constraints = await client.query<{ text: string }>(`
    select 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as text
    from pg_constraint where conrelid = ${table} and contype in ('p', 'u', 'x') order by conname`)
  const indexes = await client.query<{ text: string }>(`
    select pg_get_indexdef(indexrelid, 0, true) as text from pg_index i
    where indrelid = ${table} and not exists (select from pg_constraint where conindid = i.indexrelid)
    order by indexrelid::regclass::text`)
  const texts = ({ rows }: { readonly rows: readonly { readonly text: string }[] }): string[] =>
    rows.map(({ text }) => text)
  return { name, ...form, constraints: texts(constraints), indexes: texts(indexes) }
}

/** `grant …` of all that others may do to a live table, for the new one of its name. */
async function readGrants(client: Client, name: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ text: string }>(`
    select format('grant %s on ${SCHEMA}.${name} to %s%s', privilege_type,
                  case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
                  case when is_grantable then ' with grant option' else '' end) as text
    from pg_class, aclexplode(relacl)
    where oid = 'public.${name}'::regclass and grantee <> relowner`)
  return rows.map(({ text }) => text)
}
