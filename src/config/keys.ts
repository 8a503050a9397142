import { createHash, randomBytes } from 'node:crypto'
import type { Config } from './config.ts'
import type { JwtKey } from './credentials.ts'
import { DEFAULT_SCHEMA } from './environment.ts'
import { readSecret, secretFile } from './files.ts'

/** The keys for signing, encryption and draws, used as UTF-8 text whether given or generated. */
export interface Keys {
  readonly jwt: JwtKey
  readonly fairness: string
  readonly pii: string
  readonly checkpoint: string
}

/** The keys that a database's contents depend on, and their variables. */
export const guardedKeys = { fairness: 'FAIRNESS_KEY', pii: 'PII_KEY', checkpoint: 'CHECKPOINT_KEY' } as const
export type GuardedKey = keyof typeof guardedKeys

const files = { jwt: 'jwt-secret', fairness: 'fairness-key', pii: 'pii-key', checkpoint: 'checkpoint-key' } as const

/**
 * The file of a generated key in DATA_DIR. Ledgers in other schemas than the default one have files of their own: with
 * the same fairness key, draws on one would show what is drawn on the other.
 */
export const keyFile = (key: keyof Keys, schema: string): string =>
  schema === DEFAULT_SCHEMA ? files[key] : `${files[key]}-${schema}`

/**
 * The keys of the environment. Those not given are generated once in `dataDir`, unless the database was used with one
 * before (`used`), which a new one could not replace. Throws when a key file is damaged, or missing and must not be
 * generated.
 */
export function loadKeys(config: Config, used: ReadonlySet<GuardedKey> = new Set()): Keys {
  const keyFromFile = (name: GuardedKey): string => {
    const file = keyFile(name, config.ledgerSchema)
    if (!used.has(name)) return secretFile(config.dataDir, file)
    const secret = readSecret(config.dataDir, file)
    if (secret !== null) return secret
    throw new Error(
      `${guardedKeys[name]} is not given and ${config.dataDir}/${file} does not exist, but this database was used ` +
        'with a key before; restore it from a backup.',
    )
  }
  const guarded = {
    fairness: config.fairnessKey ?? keyFromFile('fairness'),
    pii: config.piiKey ?? keyFromFile('pii'),
    checkpoint: config.checkpointKey ?? keyFromFile('checkpoint'),
  }
  const jwt =
    config.jwt ??
    Object.freeze({ kind: 'secret', secret: secretFile(config.dataDir, keyFile('jwt', config.ledgerSchema)) })
  return Object.freeze({ jwt, ...guarded })
}

/** Identifies a key without revealing it: lower-case hex SHA-256 of the UTF-8 text. */
export function fingerprint(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex')
}

const INCARNATION_BYTES = 16

/** A name for the life of the ledger that begins now, as lower-case hex. */
export const newIncarnation = (): string => randomBytes(INCARNATION_BYTES).toString('hex')
