import { type ClientBase, escapeIdentifier } from 'pg'
import { fingerprint, type GuardedKey, guardedKeys, type Keys } from '../config/keys.ts'
import { connect } from './connect.ts'

/** A key differs from the one that this database was used with before. */
class KeyMismatch extends Error {
  override readonly name = 'KeyMismatch'
}

/** The keys that this database was used with before. */
export async function usedKeys(client: ClientBase): Promise<ReadonlySet<GuardedKey>> {
  const kept = await storedFingerprints(client)
  return new Set(names.filter((name) => kept.has(name)))
}

/**
 * Remembers the fingerprints of the keys with the first start on a database: of instances that start at once, the
 * fastest's. Throws, and remembers nothing, when the fairness key is that of a ledger in another schema which the role of
 * `ownerUrl` may read.
 */
export async function storeFingerprints(client: ClientBase, keys: Keys, ownerUrl: string): Promise<void> {
  const owner = await connect(ownerUrl, 'economy keys')
  try {
    // One lock for the whole database: two new ledgers with one key must not overlook each other.
    await owner.query(`begin; select pg_advisory_xact_lock(hashtextextended('ledger keys', 0))`)
    await assertOwnFairnessKey(owner, keys)
    await client.query(
      `insert into key_fingerprints (name, fingerprint) select * from unnest($1::text[], $2::text[])
       on conflict (name) do nothing`,
      [names, names.map((name) => fingerprint(keys[name]))],
    )
    await owner.query('commit')
  } finally {
    await owner.end()
  }
}

async function assertOwnFairnessKey(owner: ClientBase, { fairness }: Keys): Promise<void> {
  const { rows } = await owner.query<{ schema: string }>(
    `select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relname = 'key_fingerprints' and c.relkind = 'r'
       and n.nspname <> current_schema() and n.nspname !~ '^pg_'
       and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
       and (select count(*) from pg_attribute
            where attrelid = c.oid and attname in ('name', 'fingerprint') and atttypid = 'text'::regtype) = 2
     order by n.nspname`,
  )
  for (const { schema } of rows) {
    const { rowCount } = await owner.query(
      `select from ${escapeIdentifier(schema)}.key_fingerprints where name = 'fairness' and fingerprint = $1`,
      [fingerprint(fairness)],
    )
    if (rowCount === 0) continue
    throw new Error(
      `${guardedKeys.fairness} is also the key of the ledger in schema ${schema} of this database: if one is a copy of ` +
        'the other, its draws show what the other will draw. Give each market keys of its own.',
    )
  }
}

/** Throws a KeyMismatch that names each variable whose key is not the one that was stored. */
export async function checkFingerprints(client: ClientBase, keys: Keys): Promise<void> {
  const kept = await storedFingerprints(client)
  const wrong = names.filter((name) => kept.get(name) !== fingerprint(keys[name]))
  if (wrong.length > 0) {
    throw new KeyMismatch(
      `${wrong.map((name) => guardedKeys[name]).join(' and ')} ${wrong.length === 1 ? 'is' : 'are'} not what this database was used with before; ` +
        'restore the former one.',
    )
  }
}

const names = ['fairness', 'pii', 'checkpoint'] as const satisfies readonly GuardedKey[]

async function storedFingerprints(client: ClientBase): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; fingerprint: string }>(
    'select name, fingerprint from key_fingerprints',
  )
  return new Map(rows.map((row) => [row.name, row.fingerprint]))
}
