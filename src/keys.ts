import { createHash } from 'node:crypto'
import type { Config } from './config.ts'
import type { JwtKey } from './jwt-key.ts'
import { secretFile } from './secret-file.ts'

/** What is signed, encrypted and drawn with. The keys are used as UTF-8 text, whether given or made. */
export interface Keys {
  readonly jwt: JwtKey
  readonly fairness: string
  readonly pii: string
  readonly checkpoint: string
}

/** The keys of the environment; those not given are made once in `dataDir`. Throws when a key file is damaged. */
export function loadKeys(config: Config): Keys {
  const made = (name: string): string => secretFile(config.dataDir, name)
  return Object.freeze({
    jwt: config.jwt ?? Object.freeze({ kind: 'secret', secret: made('jwt-secret') }),
    fairness: config.fairnessKey ?? made('fairness-key'),
    pii: config.piiKey ?? made('pii-key'),
    checkpoint: config.checkpointKey ?? made('checkpoint-key'),
  })
}

/** Tells keys apart without giving them away: lower-case hex SHA-256 of the UTF-8 text. */
export function fingerprint(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex')
}
