import type { ClientBase } from 'pg'

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
 * of `ledger_events`, its schema or its database (or a member of such a role), or by a privilege on the table.
 * Throws when there is no such table.
 */
export async function canChangeLedger(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(`
    select r.rolsuper
        or pg_has_role(t.relowner, 'member')
        or pg_has_role(s.nspowner, 'member')
        or pg_has_role(d.datdba, 'member')
        or has_table_privilege(t.oid, 'update, delete, truncate, trigger')
        or has_any_column_privilege(t.oid, 'update') as may
    from pg_class t
    join pg_namespace s on s.oid = t.relnamespace and s.nspname = current_schema()
    join pg_database d on d.datname = current_database()
    join pg_roles r on r.rolname = current_user
    where t.relname = 'ledger_events'`)
  const [answer] = rows
  if (answer === undefined) throw new Error('There is no table ledger_events: the database was not migrated')
  return answer.may
}
