import { fingerprint, guardedKeys } from '../../config/keys.ts'
import { readSecret } from '../../config/secret-file.ts'
import { dataDirOf } from '../database.ts'
import { type CheckpointSigner, checkpointSigner } from './checkpoint.ts'

/**
 * The signer of CHECKPOINT_KEY, else of the key that the service made in DATA_DIR; null when there is neither. Throws
 * when it is not the one that the service signs with, `kept` being the fingerprint in its database.
 */
export function findSigner(
  env: Readonly<Record<string, string | undefined>>,
  kept: string | undefined,
): CheckpointSigner | null {
  const key = env['CHECKPOINT_KEY'] || readSecret(dataDirOf(env), 'checkpoint-key')
  if (key === null) return null
  if (kept !== undefined && kept !== fingerprint(key)) {
    throw new Error(`${guardedKeys.checkpoint} is not the one that this database is used with.`)
  }
  return checkpointSigner(key)
}

/** SQL: the fingerprint of the key that the service signs checkpoints with. */
export const STORED_FINGERPRINT_SQL = `select fingerprint from key_fingerprints where name = 'checkpoint'`
