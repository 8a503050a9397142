import { join, resolve } from 'node:path'
import { DEFAULT_SCHEMA, readLedgerSchema } from '../../config/environment.ts'
import { dataDirOf } from '../database.ts'

/** The folder of snapshots, each in a folder of its own: that of SEAL_DIR, else `seals` in DATA_DIR. */
export function sealsFolderOf(env: Readonly<Record<string, string | undefined>>): string {
  const schema = readLedgerSchema(env)
  const name = schema === DEFAULT_SCHEMA ? 'seals' : `seals-${schema}`
  return resolve(env['SEAL_DIR'] || join(dataDirOf(env), name))
}
