import { randomUUID } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, escapeIdentifier, escapeLiteral } from 'pg'
import { from } from 'pg-copy-streams'
import { connect } from '../../db/connect.ts'
import { lockName, schemaOf } from '../../db/ledger-url.ts'
import { insertEventTypes } from '../../ledger/executor/statements.ts'
import { INDEX_CURSOR } from '../../ledger/indexes/index-writer.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import { isKnown } from '../../ledger/storage/stored-event.ts'
import type { LedgerScan } from '../verify/ledger-scan.ts'
import { indexTables, ShadowIndexes } from './shadow-indexes.ts'

/** Rows of one write of COPY, and of one statement. */
const CHUNK_ROWS = 500
/** How long the swap waits for readers of a table. Commands wait meanwhile, and time out only after 5 s. */
const SWAP_LOCK_TIMEOUT = '2s'
/** A reader that is still there after this time is not a short request: the swap waits for it to end. */
const READER_POLL_MS = 300
const MAX_READER_WAIT_MS = 300_000
export const TABLES_NOT_LOCKED =
  'Could not lock the tables for the swap; nothing was changed. Try again when no long query reads them.'

/** Names of schemas, quoted. */
interface Schemas {
  /** The schema of the service's tables. */
  readonly live: string
  /**
   * The schema of the new tables until the swap. The next rebuild drops what a killed one left there. No ledger can have this name,
   * as LEDGER_SCHEMA has no hyphens.
   */
  readonly shadow: string
}

/** A live table's definition, from PostgreSQL's catalogue. */
interface TableDefinition {
  readonly name: string
  readonly owner: string
  /** Storage parameters, such as `fillfactor=60`. */
  readonly options: string[] | null
  readonly comment: string
  /** Keys, in the form of `alter table … add`. */
  readonly constraints: readonly string[]
  /** `create index …`, without a schema, of indexes that belong to no key. */
  readonly indexes: readonly string[]
}

/**
 * New tables for all projections of the ledger, in a schema of their own: creates, fills and updates them and swaps them
 * in for the live ones. Needs the role that owns the live tables.
 */
export class ShadowTables {
  readonly #client: Client
  readonly #schemas: Schemas
  readonly #tables: readonly RowTable[]
  readonly #definitions: TableDefinition[] = []
  /** Null: the ledger's indexes stay as they are. */
  #indexes: ShadowIndexes | null = null

  private constructor(client: Client, schemas: Schemas, tables: readonly RowTable[]) {
    this.#client = client
    this.#schemas = schemas
    this.#tables = tables
  }

  /** Throws when another rebuild runs. */
  static async open(ownerUrl: string, tables: readonly RowTable[]): Promise<ShadowTables> {
    const schema = schemaOf(ownerUrl)
    const schemas = { live: escapeIdentifier(schema), shadow: escapeIdentifier(`${schema}-rebuilt`) }
    const client = await connect(ownerUrl, 'ledger rebuild')
    try {
      await client.query('set synchronous_commit = on')
      const { rows } = await client.query<{ is_locked: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as is_locked',
        [lockName(ownerUrl, 'ledger rebuild')],
      )
      if (rows[0]?.is_locked !== true) throw new Error('Another rebuild is running.')
      return new ShadowTables(client, schemas, tables)
    } catch (error) {
      await client.end()
      throw error
    }
  }

  /**
   * Creates empty tables, of which only the ledger's indexes have keys, if they are wanted. Throws when a table cannot be
   * swapped.
   */
  async create(withIndexes: boolean): Promise<void> {
    const { live, shadow } = this.#schemas
    const client = this.#client
    const definitions = this.#definitions
    await client.query(`drop schema if exists ${shadow} cascade; create schema ${shadow}`)
    const names = [...this.#tables.map(({ projection }) => projection.name), ...(withIndexes ? indexTables : [])]
    for (const name of names) definitions.push(await readDefinition(client, live, name))
    for (const definition of definitions) {
      await client.query(createTableSql(this.#schemas, definition))
      // `like` copies the comments of columns, and not that of the table.
      await client.query(`comment on table ${shadow}.${definition.name} is ${escapeLiteral(definition.comment)}`)
    }
    await client.query(`set search_path = ${shadow}, ${live}, pg_temp`)
    for (const definition of definitions) if (isIndex(definition)) await addConstraints(client, definition)
    if (withIndexes) this.#indexes = await ShadowIndexes.create(client, shadow)
  }

  /**
   * Writes all rows of the events up to a position, then creates keys and indexes; `onPage` rests, `onPiece` need not.
   * Answers the number of rows.
   */
  async fill(
    rows: ReplayState,
    position: number,
    { onPage, onPiece }: { readonly onPage: () => Promise<void>; readonly onPiece: () => void },
  ): Promise<number> {
    let count = 0
    for (const table of this.#tables) {
      const lines = async function* (): AsyncGenerator<string, void> {
        let chunk: string[] = []
        for (const [, row] of rows.rows(table.projection)) {
          chunk.push(table.copyLine(row))
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
    await this.#indexes?.catchUp(position, 0, onPiece)
    for (const definition of this.#definitions) {
      const { name, indexes } = definition
      if (!isIndex(definition)) await addConstraints(this.#client, definition)
      for (const index of indexes) await this.#client.query(index)
      await this.#client.query(`analyze ${name}`)
      await onPage()
    }
    return count + ((await this.#indexes?.count()) ?? 0)
  }

  /** Writes the rows that changed since changes are tracked, by events up to a position, with rests by `urgency`. */
  async update(rows: ReplayState, position: number, urgency: number): Promise<void> {
    await this.#indexes?.catchUp(position, urgency)
    for (const table of this.#tables) {
      const ids = [...rows.changed(table.projection)]
      for (let i = 0; i < ids.length; i += CHUNK_ROWS) {
        const chunk = ids.slice(i, i + CHUNK_ROWS)
        const present = chunk.flatMap((id) => rows.get(table.projection, id) ?? [])
        const removed = chunk.filter((id) => rows.get(table.projection, id) === undefined)
        for (const { text, values } of [
          ...(removed.length > 0 ? [table.remove(removed)] : []),
          ...(present.length > 0 ? [table.save(present)] : []),
        ]) {
          await this.#client.query({ text, values })
        }
      }
    }
  }

  /** Waits for long transactions that read the live tables. Throws when they take minutes. */
  async waitForReaders(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + MAX_READER_WAIT_MS
    let before = await this.#readers()
    while (before.length > 0) {
      await sleep(READER_POLL_MS, null, { signal })
      const now = await this.#readers()
      before = now.filter((reader) => before.includes(reader))
      if (performance.now() > deadline) throw new Error(TABLES_NOT_LOCKED)
    }
  }

  /** Transactions that read one of the live tables. */
  async #readers(): Promise<string[]> {
    const { rows } = await this.#client.query<{ transaction: string }>(
      `select distinct virtualtransaction as transaction from pg_locks
       where granted and pid <> pg_backend_pid() and mode = 'AccessShareLock'
         and database = (select oid from pg_database where datname = current_database())
         and relation = any ($1::regclass[])`,
      [this.#definitions.map(({ name }) => `${this.#schemas.live}.${name}`)],
    )
    return rows.map(({ transaction }) => transaction)
  }

  /**
   * In one transaction: locks the head, so that no command runs, calls `catchUp` for the last rows, and puts the new
   * tables with the owners and grants of the live ones in their places. The head gets a new batch id, by which instances
   * notice that their cached rows are outdated. Answers false, with everything rolled back, when a table could not be
   * locked in time; call it again then.
   */
  async swap(catchUp: () => Promise<void>): Promise<boolean> {
    const { live, shadow } = this.#schemas
    await this.#client.query(`begin isolation level read committed; set local lock_timeout = '${SWAP_LOCK_TIMEOUT}'`)
    try {
      // No deadlock: every command locks the head before any table. Readers of the head do not wait for this lock.
      await this.#client.query(`lock table ${live}.ledger_head in exclusive mode`)
      await catchUp()
      // The time-out of a lock counts for each table.
      await this.#client.query(`set local statement_timeout = '${SWAP_LOCK_TIMEOUT}'`)
      await this.#client.query(`lock table ${this.#definitions.map(({ name }) => `${live}.${name}`).join(', ')}`)
      await this.#client.query('set local statement_timeout = 0')
      for (const { name, owner } of this.#definitions) {
        await this.#client.query(`alter table ${shadow}.${name} owner to ${escapeIdentifier(owner)}`)
        for (const grant of await readGrants(this.#client, this.#schemas, name)) await this.#client.query(grant)
        await this.#client.query(`drop table ${live}.${name}; alter table ${shadow}.${name} set schema ${live}`)
      }
      await this.#indexes?.swapCursor(live, shadow)
      // From a cursor beyond the end, a subscriber would leave out events.
      await this.#client.query(
        `update ${live}.ledger_cursors c set position = h.position from ${live}.ledger_head h
         where c.position > h.position and c.name <> '${INDEX_CURSOR}'`,
      )
      await this.#client.query(`drop schema ${shadow}`)
      await this.#client.query(`update ${live}.ledger_head set batch = $1`, [randomUUID()])
      await this.#client.query('commit')
      return true
    } catch (error) {
      await this.#client.query('rollback')
      if (isLockConflict(error)) return false
      throw error
    }
  }

  /**
   * In the transaction of the swap, in the live table: corrects the rows of the types that were read and of all others that
   * are there, and removes those of which the ledger has no event.
   */
  async writeEventTypes(scan: Pick<LedgerScan, 'types' | 'mayHave'>): Promise<void> {
    const { rows } = await this.#client.query<{ type: string; version: number }>(
      'select type, version from event_types',
    )
    const stored = rows.filter(({ type, version }) => scan.mayHave(type, version))
    const known = stored.flatMap(({ type, version }) => (isKnown(type, version) ? [type] : []))
    const unknown = stored.filter(({ type, version }) => !isKnown(type, version))
    await this.#client.query(
      'delete from event_types where (type, version) not in (select * from unnest($1::text[], $2::smallint[]))',
      [unknown.map(({ type }) => type), unknown.map(({ version }) => version)],
    )
    const { text, values } = insertEventTypes([...new Set([...scan.types, ...known])])
    await this.#client.query(text, values)
  }

  /** Drops the tables that were not swapped in. */
  async close(): Promise<void> {
    try {
      await this.#client.query(`drop schema if exists ${this.#schemas.shadow} cascade`)
    } finally {
      await this.#client.end()
    }
  }
}

/** lock_not_available, deadlock_detected, query_canceled */
const isLockConflict = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['55P03', '40P01', '57014'].some((code) => code === error.code)

const isIndex = ({ name }: TableDefinition): boolean => indexTables.some((table) => table === name)

async function addConstraints(client: Client, { name, constraints }: TableDefinition): Promise<void> {
  for (const constraint of constraints) await client.query(`alter table ${name} add ${constraint}`)
}

const createTableSql = ({ live, shadow }: Schemas, { name, options }: TableDefinition): string => `
  create table ${shadow}.${name} (like ${live}.${name} including all excluding indexes)
  ${options === null ? '' : `with (${options.join(', ')})`}`

/** Throws when another object depends on the table, as the swap would not keep it. */
async function readDefinition(client: Client, schema: string, name: string): Promise<TableDefinition> {
  const table = `'${schema}.${name}'::regclass`
  const { rows: dependents } = await client.query<{ what: string }>(`
    select pg_describe_object(classid, objid, objsubid) as what from pg_depend
    where refclassid = 'pg_class'::regclass and refobjid = ${table} and deptype = 'n'
      and classid in ('pg_rewrite'::regclass, 'pg_constraint'::regclass)
    union all
    select 'trigger ' || tgname from pg_trigger where tgrelid = ${table} and not tgisinternal
    union all
    select 'foreign key ' || conname from pg_constraint where contype = 'f' and conrelid = ${table}`)
  if (dependents[0] !== undefined)
    throw new Error(`Table ${name} cannot be swapped: ${dependents[0].what} depends on it.`)
  const { rows } = await client.query<{ owner: string; options: string[] | null; comment: string }>(
    `select pg_get_userbyid(relowner) as owner, reloptions as options,
            coalesce(obj_description(oid, 'pg_class'), '') as comment
     from pg_class where oid = ${table}`,
  )
  const [definition] = rows
  if (definition === undefined) throw new Error(`There is no table ${name}.`)
  const constraints = await client.query<{ text: string }>(`
    select 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as text
    from pg_constraint where conrelid = ${table} and contype in ('p', 'u', 'x') order by conname`)
  const indexes = await client.query<{ text: string }>(`
    select pg_get_indexdef(indexrelid, 0, true) as text from pg_index i
    where indrelid = ${table} and not exists (select from pg_constraint where conindid = i.indexrelid)
    order by indexrelid::regclass::text`)
  const texts = ({ rows }: { readonly rows: readonly { readonly text: string }[] }): string[] =>
    rows.map(({ text }) => text)
  return { name, ...definition, constraints: texts(constraints), indexes: texts(indexes) }
}

/** `grant …` statements that give the new table the privileges of the live one. */
async function readGrants(client: Client, { live, shadow }: Schemas, name: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ text: string }>(`
    select format('grant %s on ${shadow}.${name} to %s%s', privilege_type,
                  case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
                  case when is_grantable then ' with grant option' else '' end) as text
    from pg_class, aclexplode(relacl)
    where oid = '${live}.${name}'::regclass and grantee <> relowner`)
  return rows.map(({ text }) => text)
}
