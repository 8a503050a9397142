import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Kysely, PostgresAdapter, PostgresDialect, sql } from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import type { Pool } from 'pg'
import { IS_CITUS, prepareSession } from './connect.ts'
import { lockName, schemaOf } from './ledger-url.ts'
import { PatientPool } from './pool.ts'

const ownFolder = new URL('../../sql/', import.meta.url)

/** The database lacks migrations and they could not be applied. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/**
 * Applies the migrations `NNNN-name.sql` of `folder` (a URL that ends with a slash) that the ledger's schema lacks, in
 * order and all or none; creates the schema where it is missing. Instances that start at once wait for each other.
 * Returns the names of those it applied.
 *
 * When nothing is pending, any role will do. Throws a MigrationError when something is pending and the role may not
 * migrate, when a migration fails, or when the file of one that was applied before is no longer what was applied.
 */
export async function migrate(ownerUrl: string, folder: URL = ownFolder): Promise<string[]> {
  const texts = await readMigrations(folder)
  await using db = openForMigrations(ownerUrl)
  await assertUnchanged(db, texts)
  const pending = await findPending(db, ownerUrl, texts)
  return pending.length === 0 ? [] : await apply(db, ownerUrl, texts, pending)
}

/** The names of the migrations that the database lacks, in order. Only reads. */
export async function pendingMigrations(url: string, folder: URL = ownFolder): Promise<string[]> {
  const texts = await readMigrations(folder)
  await using db = openForMigrations(url)
  return await findPending(db, url, texts)
}

/** The name of the last migration that this version has. */
export async function lastMigration(folder: URL = ownFolder): Promise<string> {
  return [...(await readMigrations(folder)).keys()].toSorted().at(-1) ?? ''
}

async function readMigrations(folder: URL): Promise<MigrationTexts> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}-[a-z0-9-]+\.sql$/.test(file))
  return new Map(
    await Promise.all(
      files.map(
        async (file) => [file.slice(0, -'.sql'.length), await readFile(new URL(file, folder), 'utf8')] as const,
      ),
    ),
  )
}

async function assertUnchanged(db: Kysely<unknown>, texts: MigrationTexts): Promise<void> {
  const stored = await storedChecksums(db)
  const changed = [...texts]
    .filter(([name, text]) => stored.has(name) && stored.get(name) !== checksum(text))
    .map(([name]) => name)
  if (changed.length === 0) return
  throw new MigrationError(
    `${changed.map((name) => `sql/${name}.sql`).join(' and ')} ${changed.length === 1 ? 'is' : 'are'} not what was ` +
      'applied to this database. Restore the former text, and put changes into a new migration.',
  )
}

async function findPending(db: Kysely<unknown>, url: string, texts: MigrationTexts): Promise<string[]> {
  const migrator = new Migrator({ db, provider: sqlOf(texts), migrationTableSchema: schemaOf(url) })
  const migrations = await migrator.getMigrations()
  return migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name)
}

async function apply(
  db: Kysely<unknown>,
  url: string,
  texts: MigrationTexts,
  pending: readonly string[],
): Promise<string[]> {
  const schema = schemaOf(url)
  if (!(await canMigrate(db, url))) {
    throw new MigrationError(
      `Schema ${schema} of the database lacks ${pending.join(', ')}, and role ${await roleOf(db)} may not migrate. ` +
        `Set DATABASE_OWNER_URL to the role that owns the database, or migrate with another instance first.`,
    )
  }
  // Migrations that were written in parallel may arrive in another order than their numbers.
  const migrator = new Migrator({
    db,
    provider: sqlOf(texts),
    migrationTableSchema: schema,
    allowUnorderedMigrations: true,
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) {
    const failed = results.find((result) => result.status === 'Error')?.migrationName ?? 'before the first one'
    throw new MigrationError(
      `Migrating failed (${failed}): ${error instanceof Error ? error.message : 'for no known reason'}`,
      { cause: error },
    )
  }
  return results.map((result) => result.migrationName)
}

const sqlOf = (texts: MigrationTexts): MigrationProvider => ({
  getMigrations: async () =>
    Object.fromEntries(
      [...texts].map(([name, text]): [string, Migration] => [
        name,
        {
          // One at a time: Citus refuses several in one query.
          up: async (db) => {
            for (const statement of splitStatements(text)) await sql.raw(statement).execute(db)
            await storeChecksum(db, name, text)
          },
        },
      ]),
    ),
})

/** Whether the role may create tables in the ledger's schema, or the schema where it is missing. */
async function canMigrate(db: Kysely<unknown>, url: string): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select coalesce(has_schema_privilege(to_regnamespace(${schemaOf(url)})::oid, 'create'),
                    has_database_privilege(current_database(), 'create')) as may`.execute(db)
  return rows[0]?.may === true
}

async function roleOf(db: Kysely<unknown>): Promise<string> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db)
  return rows[0]?.role ?? ''
}

function openForMigrations(url: string): Kysely<unknown> {
  const pool = new PatientPool({
    connectionString: url,
    max: 1,
    application_name: 'economy migrate',
    connectionTimeoutMillis: 3000,
    // Citus creates triggers only where this is set.
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client) =>
      prepareSession(client, url, `select set_config('citus.enable_unsafe_triggers', 'on', false) where ${IS_CITUS}`),
  })
  // A connection that breaks while it is idle is found out by the next query.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely({ dialect: new MigrationDialect(url, pool) })
}

/** Texts of migrations by name. */
type MigrationTexts = ReadonlyMap<string, string>

/** Stores the SHA-256 of a migration, in the transaction that applies it. */
async function storeChecksum(transaction: Kysely<unknown>, name: string, text: string): Promise<void> {
  await sql`create table if not exists migration_checksums (name text primary key, sha256 text not null)`.execute(
    transaction,
  )
  await sql`insert into migration_checksums values (${name}, ${checksum(text)})`.execute(transaction)
}

/** By name. None where there is no table of them yet, or none that this role may read. */
async function storedChecksums(db: Kysely<unknown>): Promise<ReadonlyMap<string, string>> {
  const { rows: tables } = await sql<{ readable: boolean | null }>`
    select has_table_privilege(to_regclass('migration_checksums'), 'select') as readable`.execute(db)
  if (tables[0]?.readable !== true) return new Map()
  const { rows } = await sql<{ name: string; sha256: string }>`
    select name, sha256 from migration_checksums`.execute(db)
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

const checksum = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

/** As Kysely's, except that the migrations of two ledgers in one database do not wait for each other. */
class MigrationDialect extends PostgresDialect {
  readonly #lock: string

  constructor(url: string, pool: Pool) {
    super({ pool })
    this.#lock = lockName(url, 'ledger migrations')
  }

  override createAdapter(): PostgresAdapter {
    return new MigrationAdapter(this.#lock)
  }
}

class MigrationAdapter extends PostgresAdapter {
  readonly #lock: string

  constructor(lock: string) {
    super()
    this.#lock = lock
  }

  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_lock(hashtextextended(${this.#lock}, 0))`.execute(db)
  }

  override async releaseMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_unlock(hashtextextended(${this.#lock}, 0))`.execute(db)
  }
}

/** Everything in SQL that can contain a semicolon which ends no statement; and the semicolon itself. */
const PARTS = /--[^\n]*|\/\*[\s\S]*?\*\/|\$(?<tag>\w*)\$[\s\S]*?\$\k<tag>\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|;/g

/**
 * The statements of a migration, without their semicolons. For SQL as migrations are written: no nested comments, no
 * `E'…'` strings with an escaped quotation mark, no `begin atomic` bodies.
 */
export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let start = 0
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    if (part !== ';') continue
    statements.push(text.slice(start, index))
    start = index + 1
  }
  statements.push(text.slice(start))
  return statements.map((statement) => statement.trim()).filter((statement) => !isEmpty(statement))
}

const isEmpty = (statement: string): boolean => statement.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() === ''
