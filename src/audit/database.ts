import { resolve } from 'node:path'
import { borrowEmbedded } from '../db/borrow.ts'

/**
 * Works on the service's database: the one of DATABASE_URL, else the embedded one in DATA_DIR (default `.data`),
 * whether the service runs or not. Throws when there is none.
 */
export async function withDatabase<Result>(
  env: Readonly<Record<string, string | undefined>>,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const url = env['DATABASE_URL']
  if (url) return work(url)
  const borrowed = await borrowEmbedded(resolve(env['DATA_DIR'] || '.data'))
  try {
    return await work(borrowed.serviceUrl)
  } finally {
    await borrowed.close()
  }
}
