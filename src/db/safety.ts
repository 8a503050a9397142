import { type ClientBase, escapeIdentifier } from 'pg'
import { fingerprint, type GuardedKey, guardedKeys, type Keys } from '../config/keys.ts'
import { connect } from './connect.ts'

/** Values of settings with which no ledger is safe, and what they do to it. Only a superuser can preset most of them. */
const UNSAFE_SETTINGS: Readonly<Record<string, { readonly value: string; readonly consequence: string }>> = {
  fsync: { value: 'off', consequence: 'a crash of the machine can destroy the database' },
  // `local` and `remote_write` are weaker for replicas only; they wait for this server's disk.
  synchronous_commit: { value: 'off', consequence: 'a crash can lose what was already confirmed' },
  full_page_writes: { value: 'off', consequence: 'a crash of the machine can leave half-written pages' },
  // `local` fires triggers as `origin` does.
  session_replication_role: { value: 'replica', consequence: 'no trigger protects the events of the ledger' },
  ignore_checksum_failure: { value: 'on', consequence: 'damaged pages are read as if they were whole' },
  zero_damaged_pages: { value: 'on', consequence: 'damaged pages are emptied without an error' },
}

/**
 * One sentence for each setting that is unsafe in this session. The session must be of the role that writes the ledger,
 * because a setting can depend on the role or the database.
 */
export async function settingFaults(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1) order by name',
    [Object.keys(UNSAFE_SETTINGS)],
  )
  return rows.flatMap(({ name, setting }) => {
    const unsafe = UNSAFE_SETTINGS[name]
    return unsafe?.value === setting ? [`The database has ${name} ${setting}: ${unsafe.consequence}.`] : []
  })
}

/**
 * Whether the session's role could change the ledger's events, or disable their protection: as superuser, as owner
 * of `ledger_events`, one of its partitions, its schema or its database (or a member of such a role), or by a privilege on
 * the table or a partition. Throws when there is no such table.
 */
export async function canChangeLedger(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean | null }>(`
    select bool_or(r.rolsuper
        or pg_has_role(t.relowner, 'member')
        or pg_has_role(s.nspowner, 'member')
        or pg_has_role(d.datdba, 'member')
        or has_table_privilege(t.oid, 'update, delete, truncate, trigger')
        or has_any_column_privilege(t.oid, 'update')) as may
    from pg_partition_tree(to_regclass('ledger_events')) p
    join pg_class t on t.oid = p.relid
    join pg_namespace s on s.oid = t.relnamespace
    join pg_database d on d.datname = current_database()
    join pg_roles r on r.rolname = current_user`)
  const may = rows[0]?.may ?? null
  if (may === null) throw new Error('There is no table ledger_events: the database was not migrated')
  return may
}

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
