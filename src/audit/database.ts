import { resolve } from 'node:path'
import { readLedgerSchema } from '../config/environment.ts'
import { leaseEmbedded } from '../db/cluster/embedded.ts'
import { assertOwnSession, SharedSession } from '../db/connect.ts'
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
