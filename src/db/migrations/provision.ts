import { escapeLiteral } from 'pg'
import type { Cluster } from '../cluster/cluster.ts'
import { connect } from '../connect.ts'

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
