import type { Kysely } from 'kysely'
import { readLedgerSchema } from '../../config/environment.ts'
import { readSecret } from '../../config/files.ts'
import { fingerprint, type GuardedKey, guardedKeys, keyFile } from '../../config/keys.ts'
import type { Tables } from '../../db/tables.ts'
import { dataDirOf } from '../database.ts'
import { type CheckpointSigner, checkpointSigner } from './checkpoint.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The key that its variable has, else the one that the service generated in DATA_DIR; null when there is neither. */
export const findKey = (name: GuardedKey, env: Environment): string | null =>
  env[guardedKeys[name]] || readSecret(dataDirOf(env), keyFile(name, readLedgerSchema(env)))

/**
 * The signer of CHECKPOINT_KEY, else of the key that the service generated in DATA_DIR; null when there is neither.
 * Throws when the key does not match `storedFingerprint`, that of the key with which the service signs.
 */
export function findSigner(env: Environment, storedFingerprint: string | undefined): CheckpointSigner | null {
  const key = findKey('checkpoint', env)
  if (key === null) return null
  if (storedFingerprint !== undefined && storedFingerprint !== fingerprint(key)) {
    throw new Error(`${guardedKeys.checkpoint} does not match this database. Give the key that the service uses.`)
  }
  return checkpointSigner(key)
}

/** The signer with which the service signs. Throws when its key is not here. */
export async function requireSigner(db: Kysely<Tables>, env: Environment): Promise<CheckpointSigner> {
  const kept = await db
    .selectFrom('key_fingerprints')
    .select('fingerprint')
    .where('name', '=', 'checkpoint')
    .executeTakeFirst()
  const signer = findSigner(env, kept?.fingerprint)
  if (signer === null)
    throw new Error('There is no key to sign with: set CHECKPOINT_KEY, or DATA_DIR where the service generated one.')
  return signer
}
