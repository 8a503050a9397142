import type { ClientBase } from 'pg'

/** Settings that must be on, and what is lost otherwise. */
const DURABILITY_SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'a crash of the machine can destroy the database',
  // `local` and `remote_write` are weaker for replicas only; they wait for this server's disk.
  synchronous_commit: 'a crash can lose what was already confirmed',
  full_page_writes: 'a crash of the machine can leave half-written pages',
}

/**
 * One sentence for each durability setting that is off in this session. The session must be of the role that writes the
 * ledger, because a setting can depend on the role or the database.
 */
export async function durabilityFaults(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from pg_settings where name = any($1) and setting = 'off' order by name`,
    [Object.keys(DURABILITY_SETTINGS)],
  )
  return rows.map(({ name }) => `The database has ${name} off: ${DURABILITY_SETTINGS[name]}.`)
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
