import { createHash } from 'node:crypto'
import type { Config } from './config.ts'
import type { JwtKey } from './jwt-key.ts'
import { readSecret, secretFile } from './secret-file.ts'

/** What is signed, encrypted and drawn with. The keys are used as UTF-8 text, whether given or made. */
export interface Keys {
  readonly jwt: JwtKey
  readonly fairness: string
  readonly pii: string
  readonly checkpoint: string
}

/** The keys that what is in a database hangs on, and the variables that give them. */
export const guardedKeys = { fairness: 'FAIRNESS_KEY', pii: 'PII_KEY', checkpoint: 'CHECKPOINT_KEY' } as const
export type GuardedKey = keyof typeof guardedKeys

/**
 * The keys of the environment; those not given are made once in `dataDir`, unless the database has been used with one
 * before (`used`): another one would be of no use. Throws when a key file is damaged, or is not there and must not be
 * made.
 */
export function loadKeys(config: Config, used: ReadonlySet<GuardedKey> = new Set()): Keys {
  const keyFromFile = (name: GuardedKey): string => {
    if (!used.has(name)) return secretFile(config.dataDir, `${name}-key`)
    const secret = readSecret(config.dataDir, `${name}-key`)
    if (secret !== null) return secret
    throw new Error(
      `${guardedKeys[name]} is not given and ${config.dataDir}/${name}-key is not there, but this database was used ` +
        'with a key before; bring it back from a backup.',
    )
  }
  const guarded = {
    fairness: config.fairnessKey ?? keyFromFile('fairness'),
    pii: config.piiKey ?? keyFromFile('pii'),
    checkpoint: config.checkpointKey ?? keyFromFile('checkpoint'),
  }
  const jwt = config.jwt ?? Object.freeze({ kind: 'secret', secret: secretFile(config.dataDir, 'jwt-secret') })
  return Object.freeze({ jwt, ...guarded })
}

/** Tells keys apart without giving them away: lower-case hex SHA-256 of the UTF-8 text. */
export function fingerprint(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex')
}
