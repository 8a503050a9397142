import { resolve } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import type { Config } from './config.ts'
import { environment } from './environment.ts'
import { readLedgerSchema } from './ledger-schema.ts'

/** How it is noticed that commits were lost, and what is done then. */
export type LostCommitsConfig = Pick<Config, 'dataDir' | 'ledgerSchema' | 'databaseSynchronous' | 'onLostCommits'>

type Environment = Readonly<Record<string, string | undefined>>

/** As the service reads it, for command lines, which read little else of the environment. Throws an Error that names a fault. */
export const readLostCommitsConfig = (env: Environment): LostCommitsConfig => ({
  dataDir: resolve(env['DATA_DIR'] || environment.properties.DATA_DIR.default),
  ledgerSchema: readLedgerSchema(env),
  databaseSynchronous: read(env, 'DATABASE_SYNCHRONOUS') === 'on',
  onLostCommits: read(env, 'ON_LOST_COMMITS') === 'recover' ? 'recover' : 'stop',
})

function read(env: Environment, name: 'DATABASE_SYNCHRONOUS' | 'ON_LOST_COMMITS'): string {
  const value = env[name] ?? ''
  const schema = environment.properties[name]
  if (value !== '' && !Value.Check(schema, value)) throw new Error(`${name} ${schema.description}.`)
  return value
}
