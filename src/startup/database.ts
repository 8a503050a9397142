import type { Kysely } from 'kysely'
import type { Client, Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { errorCode } from '../config/error-code.ts'
import { type Keys, loadKeys } from '../config/keys.ts'
import { openEmbedded } from '../db/cluster/embedded.ts'
import { connect } from '../db/connect.ts'
import { checkFingerprints, usedKeys } from '../db/fingerprints.ts'
import type { Log } from '../db/log.ts'
import { grantService } from '../db/migrations/grants.ts'
import { migrate } from '../db/migrations/migrate.ts'
import { openPool, readPool } from '../db/pool.ts'
import { queryBuilder } from '../db/queries/query-builder.ts'
import { canChangeLedger, durabilityFaults } from '../db/safety.ts'
import type { Tables } from '../db/tables.ts'

export interface Database {
  /** Of the service's own role. */
  readonly url: string
  /** For the reads of routes. */
  readonly db: Kysely<Tables>
  /** For /readyz, with a connection of its own: it must not wait for requests. */
  readonly probe: Kysely<Tables>
  /** For subscribers of the ledger: they must not wait for requests. */
  readonly subscriberPool: Pool
  /** The keys that the database's contents depend on. */
  readonly keys: Keys
}

interface Addresses {
  readonly url: string
  /** Null: there is one role for everything. */
  readonly ownerUrl: string | null
}

/**
 * Opens and migrates the database, and checks that it is safe for a ledger; `cleanUp` closes it. Throws an Error whose
 * message says what to do.
 */
export async function openDatabase(config: Config, log: Log, cleanUp: AsyncDisposableStack): Promise<Database> {
  const { url, ownerUrl } = await locate(config, log, cleanUp)
  const client = await (config.databaseUrl === null ? connect(url, NAME) : connectTo('DATABASE_URL', url))
  let keys: Keys
  try {
    const role = await roleOf(client)
    if (config.databaseOwnerUrl !== null) await assertSeparateRoles(config.databaseOwnerUrl, role)
    await migrate(ownerUrl ?? url)
    if (ownerUrl !== null) await grantService(ownerUrl, role)
    await assertSafe(client, config, log)
    keys = loadKeys(config, await usedKeys(client))
    await checkFingerprints(client, keys)
  } finally {
    await client.end()
  }
  const pool = openPool(url, { max: 10, application_name: 'economy reads' }, log)
  const db = queryBuilder(readPool(pool))
  cleanUp.defer(() => db.destroy())
  const probePool = openPool(url, { max: 1, min: 1, application_name: 'economy readiness' }, log)
  const probe = queryBuilder(probePool)
  cleanUp.defer(() => probe.destroy())
  // Opened now, so that it exists when PostgreSQL accepts no more connections.
  await probePool.connect().then((connection) => connection.release())
  const subscriberPool = openPool(url, { max: 4, application_name: 'economy followers' }, log)
  cleanUp.defer(() => subscriberPool.end())
  return { url, db, probe, subscriberPool, keys }
}

async function locate(config: Config, log: Log, cleanUp: AsyncDisposableStack): Promise<Addresses> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, ownerUrl: config.databaseOwnerUrl }
  const embedded = await openEmbedded(config.dataDir, log)
  cleanUp.defer(() => embedded.stop())
  return { url: embedded.serviceUrl, ownerUrl: embedded.ownerUrl }
}

const NAME = 'economy start'

/** Connects to the address in a variable; errors name the variable. */
async function connectTo(variable: string, url: string): Promise<Client> {
  try {
    return await connect(url, NAME)
  } catch (error) {
    // A refused connection to a name with several addresses has no message.
    const reason = error instanceof Error && error.message !== '' ? error.message : (errorCode(error) ?? String(error))
    throw new Error(`${variable} cannot be used: ${reason}`, { cause: error })
  }
}

/** With one role in both variables the service would revoke its own rights. */
async function assertSeparateRoles(ownerUrl: string, serviceRole: string): Promise<void> {
  const owner = await connectTo('DATABASE_OWNER_URL', ownerUrl)
  try {
    if ((await roleOf(owner)) !== serviceRole) return
    throw new Error(
      `DATABASE_OWNER_URL and DATABASE_URL name the same role, ${serviceRole}. Give the first to the role that owns the ` +
        `database and the second to one of the service's own, or leave DATABASE_OWNER_URL out.`,
    )
  } finally {
    await owner.end()
  }
}

async function roleOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ role: string }>('select current_user as role')
  return rows[0]?.role ?? ''
}

async function assertSafe(client: Client, config: Config, log: Log): Promise<void> {
  const faults = await durabilityFaults(client)
  if (faults.length > 0)
    throw new Error(`${faults.join(' ')} Refusing to start: fsync, synchronous_commit and full_page_writes must be on.`)
  if (!(await canChangeLedger(client))) return
  const finding = 'The role of DATABASE_URL may change events of the ledger'
  if (config.production) {
    throw new Error(`${finding}. Give the service a role of its own, and set DATABASE_OWNER_URL to the owner's.`)
  }
  log.warn({}, `${finding}; production would refuse to start`)
}
