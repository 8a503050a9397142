import { type Client, escapeIdentifier } from 'pg'
import { connect } from '../connect.ts'
import { lockName, schemaOf } from '../ledger-url.ts'

/** The service's privileges on tables; on tables not listed it may read and write, but not truncate. */
const tableGrants: Readonly<Record<string, string>> = {
  ledger_events: 'select, insert',
  ledger_head: 'select, insert, update',
  migration_checksums: 'select',
  kysely_migration: 'select',
  kysely_migration_lock: '',
}
const otherTables = 'select, insert, update, delete'

/**
 * Grants `serviceRole` what the service needs in the ledger's schema and revokes everything else there. Run by the owner
 * after migrating; idempotent, also while the service runs. Throws when `serviceRole` is the owner.
 */
export async function grantService(ownerUrl: string, serviceRole: string): Promise<void> {
  const client = await connect(ownerUrl, 'economy grants')
  try {
    await client.query('begin')
    // Two grants of the same table at once would end one of them with "tuple concurrently updated".
    const lock = lockName(ownerUrl, 'ledger grants')
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock])
    await refuseOwner(client, serviceRole)
    const role = escapeIdentifier(serviceRole)
    const schema = escapeIdentifier(schemaOf(ownerUrl))
    await client.query(`
      revoke all on schema ${schema} from ${role};
      revoke create on schema ${schema} from public;
      revoke all on all tables in schema ${schema} from public, ${role};
      revoke all on all sequences in schema ${schema} from public, ${role};
      grant usage on schema ${schema} to ${role};`)
    for (const [name, privileges] of await grantsOf(client)) {
      await client.query(`grant ${privileges} on ${schema}.${escapeIdentifier(name)} to ${role}`)
    }
    await client.query('commit')
  } finally {
    await client.end()
  }
}

async function refuseOwner(client: Client, serviceRole: string): Promise<void> {
  const { rows } = await client.query<{ same: boolean }>('select current_user = $1 as same', [serviceRole])
  if (rows[0]?.same) throw new Error(`Role ${serviceRole} owns the tables and cannot be restricted`)
}

/**
 * Name and privileges of each table and view. Views are for reading only: one that can be written through would reach
 * its table with the owner's rights. Partitions get nothing: they are reached through their table.
 */
async function grantsOf(client: Client): Promise<[string, string][]> {
  const { rows } = await client.query<{ name: string; is_table: boolean }>(`
    select relname as name, relkind in ('r', 'p') as is_table
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition
    order by relname`)
  return rows
    .map(({ name, is_table }): [string, string] => [name, is_table ? (tableGrants[name] ?? otherTables) : 'select'])
    .filter(([, privileges]) => privileges !== '')
}
