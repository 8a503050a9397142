import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { readLedgerSchema } from '../config/environment.ts'
import { errorCode } from '../config/error-code.ts'
import { leaseEmbedded } from '../db/cluster/embedded.ts'
import { assertOwnSession, connect, SharedSession } from '../db/connect.ts'
import { ledgerUrl } from '../db/ledger-url.ts'

/** Connection strings of the service's ledger. */
export interface AuditDatabase {
  /** As the service's own role. */
  readonly url: string
  /** As `url`, of a standby; null where there is none. */
  readonly standbyUrl: string | null
  /** As the role that owns the tables. */
  readonly ownerUrl: string
}

/**
 * Calls `work` with the ledger in schema LEDGER_SCHEMA of the service's database: that of DATABASE_URL, else the
 * embedded one in DATA_DIR (default `.data`), whether the service runs or not. The owner's role is that of
 * DATABASE_OWNER_URL, else that of DATABASE_URL; the standby is that of DATABASE_READ_URL. Throws when there is no
 * database, when `signal` is aborted before it answers, and behind a pooler that shares sessions, as settings of one
 * command would reach others.
 */
export async function withDatabase<Result>(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  work: (database: AuditDatabase) => Promise<Result>,
): Promise<Result> {
  const schema = readLedgerSchema(env)
  const url = env['DATABASE_URL']
  const inSchema = (address: string): string => ledgerUrl(address, schema)
  if (url) {
    const standbyUrl = env['DATABASE_READ_URL']
    await assertUsable('DATABASE_URL', url)
    const ownerUrl = env['DATABASE_OWNER_URL'] || url
    if (ownerUrl !== url) await assertUsable('DATABASE_OWNER_URL', ownerUrl)
    return work({
      url: inSchema(url),
      standbyUrl: standbyUrl ? inSchema(standbyUrl) : null,
      ownerUrl: inSchema(ownerUrl),
    })
  }
  const leased = await leaseEmbedded(dataDirOf(env), { signal })
  try {
    return await work({ url: inSchema(leased.serviceUrl), standbyUrl: null, ownerUrl: inSchema(leased.ownerUrl) })
  } finally {
    await leased.close()
  }
}

async function assertUsable(variable: string, url: string): Promise<void> {
  try {
    await assertOwnSession(url, 'command line')
  } catch (error) {
    if (!(error instanceof SharedSession)) throw error
    throw new Error(`${variable} cannot be used: ${error.message}`, { cause: error })
  }
}

/** The folder of the embedded database and of the generated keys. */
export const dataDirOf = (env: Readonly<Record<string, string | undefined>>): string =>
  resolve(env['DATA_DIR'] || '.data')

/** How long a report waits for the standby to replay what the primary has. */
const MAX_WAIT_MS = 5_000
const POLL_INTERVAL_MS = 100

interface Heads {
  readonly position: string
  /** The time of the event at the position that was asked for; null when there is none. */
  readonly hash: string | null
}

/**
 * The address of the database that all of a report is read from: the standby, once it has the last event that the
 * primary has now, else the primary. Then `warn` gets the reason. Throws when the primary cannot be reached or `signal`
 * is aborted.
 */
export async function chooseReportUrl(
  { url, standbyUrl }: Pick<AuditDatabase, 'url' | 'standbyUrl'>,
  signal: AbortSignal,
  warn: (message: string) => void,
): Promise<string> {
  if (standbyUrl === null) return url
  const primary = await withClient(url, (client) => headsOf(client, null))
  let reason: string | null
  try {
    await assertOwnSession(standbyUrl, NAME)
    reason = await withClient(standbyUrl, (client) => replay(client, primary, signal))
  } catch (error) {
    signal.throwIfAborted()
    reason = error instanceof Error && error.message !== '' ? error.message : (errorCode(error) ?? 'unknown error')
  }
  if (reason === null) return standbyUrl
  warn(`reading DATABASE_URL instead of DATABASE_READ_URL: ${reason}`)
  return url
}

const NAME = 'audit'

/** Waits until a standby has an event of the primary. Answers why it cannot be read, or null. */
async function replay(standby: Client, primary: Heads, signal: AbortSignal): Promise<string | null> {
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    const { position, hash } = await headsOf(standby, primary.position)
    if (BigInt(position) >= BigInt(primary.position)) return hash === primary.hash ? null : 'it holds another ledger'
    if (performance.now() > deadline) return `it is at position ${position}, behind ${primary.position}`
    await sleep(POLL_INTERVAL_MS, undefined, { signal })
  }
}

/** Where the ledger ends, and the hash at `position`; null for that of the end. */
async function headsOf(client: Client, position: string | null): Promise<Heads> {
  const { rows } = await client.query<Heads>(
    `select h.position::text as position, encode(e.hash, 'hex') as hash
       from ledger_head h left join ledger_events e on e.position = coalesce($1::bigint, h.position)`,
    [position],
  )
  const [heads] = rows
  if (heads === undefined) throw new Error('the ledger has no head')
  return heads
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connect(url, NAME)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
