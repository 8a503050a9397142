import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Client, Pool } from 'pg'
import { checkpointSigner, keepPublicKey } from '../audit/checkpoint.ts'
import type { Config } from '../config/config.ts'
import { errorCode } from '../config/error-code.ts'
import { type Keys, loadKeys } from '../config/keys.ts'
import { openEmbedded } from '../db/cluster/embedded.ts'
import { assertOwnSession, connect } from '../db/connect.ts'
import { ledgerUrl } from '../db/ledger-url.ts'
import type { Log, RecoveryLogger } from '../db/log.ts'
import { migrate, pendingMigrations } from '../db/migrate.ts'
import { keyedReadSettings, openPool, readPool } from '../db/pool.ts'
import { isConnectionError } from '../db/postgres-errors.ts'
import { makePartitions } from '../db/queries/partitions.ts'
import { type ChooseReportDatabase, openReportDatabase, queryBuilder } from '../db/queries/query-builder.ts'
import { grantService } from '../db/roles.ts'
import { canChangeLedger, checkFingerprints, settingFaults, storeFingerprints, usedKeys } from '../db/safety.ts'
import { Promotion } from '../db/standby.ts'
import type { Tables } from '../db/tables.ts'
import { openStandby } from './standby.ts'

export interface Database {
  /** The ledger's connection string, of the service's own role. */
  readonly url: string
  /** For the reads of routes. */
  readonly db: Kysely<Tables>
  /** For reports and pages of staff, which read many rows at once. */
  readonly chooseReportDatabase: ChooseReportDatabase
  /** For /readyz, with a connection of its own: it must not wait for requests. */
  readonly probe: Kysely<Tables>
  /** For subscribers of the ledger: they must not wait for requests. */
  readonly subscriberPool: Pool
  /** Whether the database is a standby: then the service only reads. */
  readonly promotion: Promotion
  /** The keys that the database's contents depend on. */
  readonly keys: Keys
}

interface Addresses {
  readonly url: string
  /** Null: there is one role for everything. */
  readonly ownerUrl: string | null
}

/**
 * Opens and migrates the database, and checks that it is safe for a ledger; `cleanUp` closes it. Waits for one that is away,
 * for a minute or until `stop` is aborted. Throws an Error whose message says what to do.
 */
export async function openDatabase(
  config: Config,
  log: RecoveryLogger,
  stop: AbortSignal,
  cleanUp: AsyncDisposableStack,
): Promise<Database> {
  const { url, ownerUrl } = await locate(config, log, stop, cleanUp)
  const client = await (config.databaseUrl === null ? connect(url, NAME) : connectTo('DATABASE_URL', url, log, stop))
  let keys: Keys
  let isStandby: boolean
  try {
    await assertUtf8(client)
    const role = await roleOf(client)
    isStandby = await isInRecovery(client)
    if (isStandby) {
      await assertMigrated(url)
      log.warn({}, 'DATABASE_URL is a standby: this instance only reads until it is promoted')
    } else {
      if (config.databaseOwnerUrl !== null) {
        const owner = await connectTo('DATABASE_OWNER_URL', config.databaseOwnerUrl, log, stop)
        await assertSeparateRoles(owner, role)
      }
      await migrate(ownerUrl ?? url)
      if (ownerUrl !== null) await grantService(ownerUrl, role)
      // Before the first reply, which would be in no partition of its day, and no day with such a reply gets one.
      await makePartitions(client).catch((err: unknown) => log.warn({ err }, 'partitions could not be made'))
    }
    await assertSafe(client, config, log)
    await warnOfLocale(client, log)
    keys = loadKeys(config, await usedKeys(client))
    if (!isStandby) await storeFingerprints(client, keys, ownerUrl ?? url)
    await checkFingerprints(client, keys)
    // With keys that were checked: nobody can replace it.
    if (!isStandby) await keepPublicKey(client, checkpointSigner(keys.checkpoint))
  } finally {
    await client.end()
  }
  const options = { max: 10, application_name: 'economy reads', settings: keyedReadSettings }
  const db = cleanUp.use(queryBuilder(readPool(openPool(url, options, log))))
  const primary = { db: cleanUp.use(openReportDatabase(url, 'economy reports', log)), url }
  const chooseReportDatabase: ChooseReportDatabase =
    config.databaseReadUrl === null
      ? () => Promise.resolve(primary)
      : await openStandby(ledgerUrl(config.databaseReadUrl, config.ledgerSchema), primary, log, cleanUp).catch(
          (error: unknown) => {
            throw unusable('DATABASE_READ_URL', error)
          },
        )
  const probePool = openPool(url, { max: 1, min: 1, application_name: 'economy readiness' }, log)
  const probe = queryBuilder(probePool)
  // Kysely would not end a pool through which it never asked anything.
  cleanUp.defer(() => probePool.end())
  // Opened now, so that it exists when PostgreSQL accepts no more connections.
  await probePool.connect().then((connection) => connection.release())
  const subscriberPool = openPool(url, { max: 4, application_name: 'economy followers' }, log)
  cleanUp.defer(() => subscriberPool.end())
  const promotion = new Promotion(isStandby, () => isInRecovery(probePool))
  cleanUp.defer(() => promotion.stop())
  return { url, db, chooseReportDatabase, probe, subscriberPool, promotion, keys }
}

async function locate(config: Config, log: Log, stop: AbortSignal, cleanUp: AsyncDisposableStack): Promise<Addresses> {
  const inSchema = (url: string): string => ledgerUrl(url, config.ledgerSchema)
  if (config.databaseUrl !== null) {
    const { databaseUrl, databaseOwnerUrl } = config
    return { url: inSchema(databaseUrl), ownerUrl: databaseOwnerUrl === null ? null : inSchema(databaseOwnerUrl) }
  }
  const embedded = await openEmbedded(config.dataDir, { log, signal: stop })
  cleanUp.defer(() => embedded.stop())
  return { url: inSchema(embedded.serviceUrl), ownerUrl: inSchema(embedded.ownerUrl) }
}

const NAME = 'economy start'

const MAX_WAIT_MS = 60_000
const RETRY_MS = 500

/**
 * Connects to the address in a variable; while nothing answers there, or a server that is not ready, it tries again for
 * `maxWaitMs`, and logs that once. Errors name the variable.
 */
export async function connectTo(
  variable: string,
  url: string,
  log: Log,
  stop: AbortSignal,
  maxWaitMs = MAX_WAIT_MS,
): Promise<Client> {
  const deadline = performance.now() + maxWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      await assertOwnSession(url, NAME, stop)
      return await connect(url, NAME, { signal: stop })
    } catch (err) {
      stop.throwIfAborted()
      if (!isConnectionError(err) || performance.now() > deadline) throw unusable(variable, err)
      if (isFirst)
        log.warn({ err }, `${variable} cannot be reached; the start waits for it, ${maxWaitMs / 1000} s at most`)
    }
    await sleep(RETRY_MS, undefined, { signal: stop })
  }
}

function unusable(variable: string, error: unknown): Error {
  // A refused connection to a name with several addresses has no message.
  const reason = error instanceof Error && error.message !== '' ? error.message : (errorCode(error) ?? String(error))
  return new Error(`${variable} cannot be used: ${reason}`, { cause: error })
}

/** With one role in both variables the service would revoke its own rights. */
async function assertSeparateRoles(owner: Client, serviceRole: string): Promise<void> {
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

/** A standby cannot be migrated: its primary has to be. */
async function assertMigrated(url: string): Promise<void> {
  const pending = await pendingMigrations(url)
  if (pending.length === 0) return
  throw new Error(`DATABASE_URL is a standby that lacks ${pending.join(', ')}: start an instance on its primary first.`)
}

async function isInRecovery(client: Client | Pool): Promise<boolean> {
  const { rows } = await client.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby')
  return rows[0]?.is_standby === true
}

async function roleOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ role: string }>('select current_user as role')
  return rows[0]?.role ?? ''
}

/** Any other encoding refuses letters of some script, or does not know what a letter is. */
async function assertUtf8(client: Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('show server_encoding')
  const encoding = rows[0]?.server_encoding
  if (encoding === 'UTF8') return
  throw new Error(
    `The database has the encoding ${encoding}; the ledger needs UTF8: create one with ENCODING 'UTF8' TEMPLATE template0.`,
  )
}

/** The service folds the letters of its searches itself; queries in plain SQL do not have that. */
async function warnOfLocale(client: Client, log: Log): Promise<void> {
  const { rows } = await client.query<{ folds: boolean }>(`select lower('É') = 'é' as folds`)
  if (rows[0]?.folds === true) return
  log.warn(
    {},
    'The database has LC_CTYPE C: in SQL, lower() and ilike leave all letters but those of ASCII as they are; ' +
      'create it with a UTF-8 locale, such as C.UTF-8',
  )
}

async function assertSafe(client: Client, config: Config, log: Log): Promise<void> {
  const faults = await settingFaults(client)
  if (faults.length > 0)
    throw new Error(
      `${faults.join(' ')} Refusing to start: fsync, synchronous_commit and full_page_writes must be on, ` +
        'session_replication_role, ignore_checksum_failure and zero_damaged_pages as they are by default.',
    )
  if (!(await canChangeLedger(client))) return
  const finding = 'The role of DATABASE_URL may change events of the ledger'
  if (config.production) {
    throw new Error(`${finding}. Give the service a role of its own, and set DATABASE_OWNER_URL to the owner's.`)
  }
  log.warn({}, `${finding}; production would refuse to start`)
}
