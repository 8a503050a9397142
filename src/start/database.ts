import { Kysely, PostgresDialect } from 'kysely'
import type { Client, Pool } from 'pg'
import type { Config } from '../config.ts'
import { connect } from '../db/connect.ts'
import { openEmbedded } from '../db/embedded.ts'
import { checkFingerprints } from '../db/fingerprints.ts'
import { grantService } from '../db/grants.ts'
import type { Log } from '../db/log.ts'
import { migrate } from '../db/migrate.ts'
import { openPool } from '../db/pool.ts'
import { durabilityFaults, mayChangeLedger } from '../db/safety.ts'
import type { Tables } from '../db/tables.ts'
import type { Keys } from '../keys.ts'

export interface Database {
  /** Of the service's own role. */
  readonly url: string
  /** For the doors' reads. */
  readonly db: Kysely<Tables>
  /** For those who follow the ledger: they must not wait for the doors. */
  readonly followers: Pool
}

interface Addresses {
  readonly url: string
  /** Null: there is one role for everything. */
  readonly ownerUrl: string | null
}

/**
 * A migrated database that is safe to keep a ledger in. What was opened is closed by `cleanUp`. Throws an Error whose
 * message tells an operator what to do.
 */
export async function openDatabase(
  config: Config,
  keys: Keys,
  log: Log,
  cleanUp: AsyncDisposableStack,
): Promise<Database> {
  const { url, ownerUrl } = await locate(config, log, cleanUp)
  await migrate(ownerUrl ?? url)
  const client = await connect(url, 'economy start')
  try {
    if (ownerUrl !== null) await grantService(ownerUrl, await roleOf(client))
    await refuseUnsafe(client, config, log)
    await checkFingerprints(client, keys)
  } finally {
    await client.end()
  }
  const pool = openPool(url, { max: 10, application_name: 'economy reads' }, log)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  cleanUp.defer(() => db.destroy())
  const followers = openPool(url, { max: 4, application_name: 'economy followers' }, log)
  cleanUp.defer(() => followers.end())
  return { url, db, followers }
}

async function locate(config: Config, log: Log, cleanUp: AsyncDisposableStack): Promise<Addresses> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, ownerUrl: config.databaseOwnerUrl }
  const embedded = await openEmbedded(config.dataDir, log)
  cleanUp.defer(() => embedded.stop())
  return { url: embedded.serviceUrl, ownerUrl: embedded.ownerUrl }
}

async function roleOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ role: string }>('select current_user as role')
  return rows[0]?.role ?? ''
}

async function refuseUnsafe(client: Client, config: Config, log: Log): Promise<void> {
  const faults = await durabilityFaults(client)
  if (faults.length > 0) throw new Error(`${faults.join(' ')} Money is not kept in such a database.`)
  if (!(await mayChangeLedger(client))) return
  const finding = 'The role of DATABASE_URL may change what is in the ledger'
  if (config.production) {
    throw new Error(`${finding}. Give the service a role of its own, and set DATABASE_OWNER_URL to the owner's.`)
  }
  log.warn({}, `${finding}; production would refuse to start`)
}
