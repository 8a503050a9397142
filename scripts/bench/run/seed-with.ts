import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DatabaseUrls } from './cluster.ts'

/** Migrates and seeds with the code of another checkout, as older code refuses newer migrations. */
export async function seedWith(folder: string, database: DatabaseUrls): Promise<void> {
  const module: object = await import(pathToFileURL(join(resolve(folder), 'scripts/bench/seed.ts')).href)
  if (!('seed' in module) || typeof module.seed !== 'function')
    throw new Error(`${folder} has no scripts/bench/seed.ts`)
  await module.seed(database)
}
