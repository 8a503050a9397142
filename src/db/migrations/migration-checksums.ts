import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

/** Texts of migrations by name. */
export type MigrationTexts = ReadonlyMap<string, string>

/** The names of migrations whose text differs from the stored checksum. */
export async function changedMigrations(db: Kysely<unknown>, texts: MigrationTexts): Promise<string[]> {
  const stored = await storedChecksums(db)
  return [...texts]
    .filter(([name, text]) => stored.has(name) && stored.get(name) !== checksum(text))
    .map(([name]) => name)
}

/** Stores the SHA-256 of a migration, in the transaction that applies it. */
export async function storeChecksum(transaction: Kysely<unknown>, name: string, text: string): Promise<void> {
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
