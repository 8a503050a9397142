import { type Client, escapeIdentifier, escapeLiteral } from 'pg'
import type { Cluster } from './cluster/cluster.ts'
import { connect } from './connect.ts'
import { lockName, schemaOf } from './ledger-url.ts'

/** The service's privileges on tables; on tables not listed it may read and write, but not truncate. */
const tableGrants: Readonly<Record<string, string>> = {
  ledger_events: 'select, insert',
  event_types: 'select, insert',
  key_fingerprints: 'select, insert',
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
    for (const name of await functionsOfOwner(client)) {
      await client.query(`grant execute on function ${name} to ${role}`)
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

/** The functions that run with the owner's rights, which do for the service what it may not do itself. */
async function functionsOfOwner(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = current_schema()::regnamespace and prosecdef and proowner = current_user::regrole`)
  return rows.map(({ name }) => name)
}

/** Any number that nothing else uses, in the database `postgres`. */
const PROVISION_LOCK_ID = 5_202_611_210_001

/**
 * Creates the two roles and the database `economy` where they are missing, and sets the roles' passwords from the data
 * directory. `economy_owner` owns the database and migrates it; `economy_service` may only log in. Neither is
 * a superuser: against a superuser the ledger could not be guarded.
 */
export async function provision(cluster: Cluster, port: number): Promise<void> {
  const client = await connect(cluster.url('postgres', port, 'postgres'), 'economy provision')
  try {
    await client.query('select pg_advisory_lock($1)', [PROVISION_LOCK_ID])
    for (const role of ['economy_owner', 'economy_service'] as const) {
      const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role])
      if (rowCount === 0) await client.query(`create role ${role}`)
      await client.query(
        `alter role ${role} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
         password ${escapeLiteral(cluster.password(role))}`,
      )
    }
    const { rowCount } = await client.query(`select from pg_database where datname = 'economy'`)
    if (rowCount === 0) await client.query('create database economy owner economy_owner')
  } finally {
    await client.end()
  }
}
