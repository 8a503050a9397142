import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

/** Texts of migrations by name. */
export type MigrationTexts = ReadonlyMap<string, string>

/** Any number that nothing else uses, in the service's database. */
const CHECKSUMS_LOCK_ID = 5_202_611_210_005

/** The names of migrations whose text differs from the stored checksum. */
export async function changedMigrations(db: Kysely<unknown>, texts: MigrationTexts): Promise<string[]> {
  const kept = await storedChecksums(db)
  return [...texts]
    .filter(([name, text]) => (kept.get(name) ?? checksum(text)) !== checksum(text))
    .map(([name]) => name)
}

/**
 * Stores the SHA-256 of each applied migration that has none yet: of those just applied and, once, of those applied
 * before checksums were stored. Does nothing when the role may not.
 */
export async function storeChecksums(db: Kysely<unknown>, applied: MigrationTexts): Promise<void> {
  const kept = await storedChecksums(db)
  const missing = [...applied].filter(([name]) => !kept.has(name))
  if (missing.length === 0 || !(await canMigrate(db))) return
  await db.transaction().execute(async (transaction) => {
    // Creating the table twice at once would fail one of the two.
    await sql`select pg_advisory_xact_lock(${CHECKSUMS_LOCK_ID})`.execute(transaction)
    await sql`create table if not exists public.migration_checksums (name text primary key, sha256 text not null)`.execute(
      transaction,
    )
    await sql`insert into public.migration_checksums
      select * from unnest(${missing.map(([name]) => name)}::text[], ${missing.map(([, text]) => checksum(text))}::text[])
      on conflict do nothing`.execute(transaction)
  })
}

export async function canMigrate(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`select has_schema_privilege('public', 'create') as may`.execute(db)
  return rows[0]?.may === true
}

/** By name. None where there is no table of them yet, or none that this role may read. */
async function storedChecksums(db: Kysely<unknown>): Promise<ReadonlyMap<string, string>> {
  const { rows: tables } = await sql<{ readable: boolean | null }>`
    select has_table_privilege(to_regclass('public.migration_checksums'), 'select') as readable`.execute(db)
  if (tables[0]?.readable !== true) return new Map()
  const { rows } = await sql<{ name: string; sha256: string }>`
    select name, sha256 from public.migration_checksums`.execute(db)
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

const checksum = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')
