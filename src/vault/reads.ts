import { type Kysely, sql } from 'kysely'
import type { Tables } from '../db/tables.ts'
import type { Vault } from './vault.ts'

type Db = Kysely<Tables>
type OpeningVault = Pick<Vault, 'open' | 'reportUnreadable'>

/** A record with its key; either may be missing. */
export interface StoredRecord {
  readonly record_id: string
  readonly sealed: string | null
  readonly user_id: number | null
  readonly wrapped: string | null
}

/**
 * Plaintexts of records by id. Null for a record that cannot be opened; erased records, which lost both record and key,
 * are missing.
 */
export async function openRecords(
  db: Db,
  vault: Vault,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<StoredRecord>`
    select requested.record_id, r.sealed, k.user_id, k.wrapped
    from unnest(${ids}::text[]) as requested (record_id)
    left join vault_records r on r.record_id = requested.record_id
    left join vault_keys k on k.record_id = requested.record_id
    where r.record_id is not null or k.record_id is not null`.execute(db)
  return openStored(vault, rows)
}

/** As `openRecords`, of records that were read already; erased ones are not among them. */
export const openStored = (vault: OpeningVault, records: readonly StoredRecord[]): ReadonlyMap<string, string | null> =>
  new Map(records.map((record) => [record.record_id, openOrReport(vault, record)]))

function openOrReport(vault: OpeningVault, { record_id, sealed, user_id, wrapped }: StoredRecord): string | null {
  if (sealed === null || user_id === null || wrapped === null) {
    vault.reportUnreadable(record_id, sealed === null ? 'record lost' : 'key lost')
    return null
  }
  try {
    return vault.open({ record_id, sealed, user_id, wrapped })
  } catch {
    vault.reportUnreadable(record_id, 'not decrypted')
    return null
  }
}

/**
 * Deletes all records of a user, with their keys, in one transaction; returns how many. Records added while this runs
 * survive: the caller must prevent new ones first.
 */
export async function destroyRecords(db: Db, userId: number): Promise<number> {
  const { rows } = await sql<{ record_id: string }>`
    with keys as (delete from vault_keys where user_id = ${userId} returning record_id),
         records as (delete from vault_records r using keys where r.record_id = keys.record_id)
    select record_id from keys`.execute(db)
  return rows.length
}
