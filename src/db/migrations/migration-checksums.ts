import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { lockName, schemaOf } from '../ledger-url.ts'

/** Texts of migrations by name. */
export type MigrationTexts = ReadonlyMap<string, string>

/** Checksums of former texts that did the same as the present ones do, by the migration's name. */
const FORMER_CHECKSUMS: Readonly<Record<string, string>> = {
  // It named schema public, where all ledgers were.
  '0016-room-member-counts': '8863e3e74055021ef933bd9a30f3c7f53685ad3ada61d9fb9fd76c3079d8e1ae',
  // Its comments and the name of a subquery were other words.
  '0025-notifications': '8ea59a9b014b930734dad9163f16a83dccb87fac775e0faf65a02cae41b2ce18',
}

/** The names of migrations whose text differs from the stored checksum. */
export async function changedMigrations(db: Kysely<unknown>, texts: MigrationTexts): Promise<string[]> {
  const stored = await storedChecksums(db)
  return [...texts]
    .filter(([name, text]) => {
      const applied = stored.get(name)
      return applied !== undefined && applied !== checksum(text) && applied !== FORMER_CHECKSUMS[name]
    })
    .map(([name]) => name)
}

/**
 * Stores the SHA-256 of each applied migration that has none yet: of those just applied and, once, of those applied
 * before checksums were stored. Does nothing when the role may not.
 */
export async function storeChecksums(db: Kysely<unknown>, url: string, applied: MigrationTexts): Promise<void> {
  const kept = await storedChecksums(db)
  const missing = [...applied].filter(([name]) => !kept.has(name))
  if (missing.length === 0 || !(await canMigrate(db, url))) return
  await db.transaction().execute(async (transaction) => {
    // Creating the table twice at once would fail one of the two.
    const lock = lockName(url, 'ledger migration checksums')
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(transaction)
    await sql`create table if not exists migration_checksums (name text primary key, sha256 text not null)`.execute(
      transaction,
    )
    await sql`insert into migration_checksums
      select * from unnest(${missing.map(([name]) => name)}::text[], ${missing.map(([, text]) => checksum(text))}::text[])
      on conflict do nothing`.execute(transaction)
  })
}

/** Whether the role may create tables in the ledger's schema, or the schema where it is missing. */
export async function canMigrate(db: Kysely<unknown>, url: string): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select coalesce(has_schema_privilege(to_regnamespace(${schemaOf(url)})::oid, 'create'),
                    has_database_privilege(current_database(), 'create')) as may`.execute(db)
  return rows[0]?.may === true
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
