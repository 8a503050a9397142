import { type Kysely, sql } from 'kysely'
import type { Tables } from '../db/tables.ts'
import type { SealedRecord } from './record.ts'
import type { Vault } from './vault.ts'

type Db = Kysely<Tables>

/** What these records say, by their ids: null for one that cannot be opened; those that were erased are not there. */
export async function openRecords(
  db: Db,
  vault: Vault,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('vault_records as r')
    .innerJoin('vault_keys as k', 'k.record_id', 'r.record_id')
    .select(['r.record_id', 'r.sealed', 'k.user_id', 'k.wrapped'])
    .where('r.record_id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.record_id, openOrReport(vault, row)]))
}

function openOrReport(vault: Vault, record: SealedRecord): string | null {
  try {
    return vault.open(record)
  } catch {
    vault.reportUnreadable(record.record_id, 'not decrypted')
    return null
  }
}

/**
 * Erases every record about a user, keys first and all in one transaction; answers how many. What comes into the vault
 * while this runs stays: first see to it that nothing does.
 */
export async function destroyAllOf(db: Db, userId: number): Promise<number> {
  const { rows } = await sql<{ record_id: string }>`
    with keys as (delete from vault_keys where user_id = ${userId} returning record_id),
         records as (delete from vault_records r using keys where r.record_id = keys.record_id)
    select record_id from keys`.execute(db)
  return rows.length
}
