import { resolve } from 'node:path'
import { leaseEmbedded } from '../db/cluster/lease.ts'

/** Where the service's database is. */
export interface AuditDatabase {
  /** As the service's own role. */
  readonly url: string
  /** As the role that owns the tables. */
  readonly ownerUrl: string
}

/**
 * Works on the service's database: the one of DATABASE_URL, else the embedded one in DATA_DIR (default `.data`),
 * whether the service runs or not. Its owner is that of DATABASE_OWNER_URL; without it the one role there is.
 * Throws when there is none.
 */
export async function withDatabase<Result>(
  env: Readonly<Record<string, string | undefined>>,
  work: (database: AuditDatabase) => Promise<Result>,
): Promise<Result> {
  const url = env['DATABASE_URL']
  if (url) return work({ url, ownerUrl: env['DATABASE_OWNER_URL'] || url })
  const borrowed = await leaseEmbedded(dataDirOf(env))
  try {
    return await work({ url: borrowed.serviceUrl, ownerUrl: borrowed.ownerUrl })
  } finally {
    await borrowed.close()
  }
}

/** Where the embedded database and the keys that were made are. */
export const dataDirOf = (env: Readonly<Record<string, string | undefined>>): string =>
  resolve(env['DATA_DIR'] || '.data')
