import { fingerprint } from '../../config/keys.ts'
import { withdrawals } from '../../features/agency/withdrawals/withdrawal.ts'
import { isErased } from '../../features/users/user.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { openStored } from '../../vault/reads.ts'
import { createVault, type Vault } from '../../vault/vault.ts'
import type { Findings } from './finding.ts'

/** Records that are looked up at once. */
const CHUNK_RECORDS = 2_000

const RECORDS_SQL = `select record_id, r.sealed, k.user_id, k.wrapped
  from vault_records r full join vault_keys k using (record_id)`

/**
 * Every record of the vault must have its key, and be there as long as the person whom it is about is not erased. It must be
 * possible to decrypt it, which is tried where `piiKey` is the key of this database. No finding shows what a record holds.
 */
export async function checkVault(
  snapshot: Snapshot,
  rows: ReplayState,
  piiKey: string | null,
  findings: Findings,
  onPage: () => Promise<void>,
): Promise<void> {
  const add = (id: string, reason: string): void =>
    findings.add({
      check: 'vault',
      position: null,
      table: 'vault_records',
      id,
      message: `it cannot be read: ${reason}`,
    })
  const key = piiKey !== null && (await isOwnKey(snapshot, piiKey)) ? piiKey : null
  const vault: Pick<Vault, 'open' | 'reportUnreadable'> =
    key === null ? { open: () => '', reportUnreadable: add } : createVault(key, add)
  for await (const page of snapshot.rows(RECORDS_SQL)) {
    const stored = page.map(([record_id, sealed = null, user_id = null, wrapped = null]) => ({
      record_id: String(record_id),
      sealed,
      user_id: user_id === null ? null : Number(user_id),
      wrapped,
    }))
    openStored(vault, stored)
    if (findings.isFull) return
    await onPage()
  }
  for (const owners of ownersOfRecords(rows)) {
    const missing = await missingAmong(snapshot, owners)
    const erased = await erasedAmong(snapshot, [...missing.values()])
    for (const [id, user] of missing) if (!erased.has(user)) add(id, 'record and key lost')
    if (findings.isFull) return
    await onPage()
  }
}

async function isOwnKey(snapshot: Snapshot, piiKey: string): Promise<boolean> {
  const [kept] = await snapshot.query(`select fingerprint from key_fingerprints where name = 'pii'`)
  return kept === undefined || kept['fingerprint'] === fingerprint(piiKey)
}

/** The records that requests name, with the user whom each is about, some thousands at a time. */
function* ownersOfRecords(rows: ReplayState): Generator<ReadonlyMap<string, number>, void> {
  let owners = new Map<string, number>()
  for (const [, { details, note, user_id }] of rows.rows(withdrawals)) {
    for (const record of [details, note]) if (record) owners.set(record, user_id)
    if (owners.size < CHUNK_RECORDS) continue
    yield owners
    owners = new Map()
  }
  yield owners
}

/** Those of which neither record nor key is there. */
async function missingAmong(
  snapshot: Snapshot,
  owners: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const missing = new Map(owners)
  const text = `select record_id from vault_records where record_id = any($1)
    union all select record_id from vault_keys where record_id = any($1)`
  for (const { record_id } of await snapshot.query(text, [[...owners.keys()]])) missing.delete(String(record_id))
  return missing
}

/** Their records are deleted after their profiles. */
async function erasedAmong(snapshot: Snapshot, users: readonly number[]): Promise<ReadonlySet<number>> {
  const text = 'select user_id, name, avatar, uid from user_profiles where user_id = any($1)'
  const profiles = await snapshot.query(text, [users])
  return new Set(
    profiles
      .filter(({ name, avatar, uid }) => isErased({ name: String(name), avatar: String(avatar), uid: String(uid) }))
      .map(({ user_id }) => Number(user_id)),
  )
}
