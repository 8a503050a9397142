import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import type { Log } from '../db/log.ts'
import type { SealedRecord } from './record.ts'

/**
 * Encrypts what people wrote: AES-256-GCM with one key per record, which is itself encrypted with a key derived from
 * PII_KEY. Record, key and user are bound to each other as authenticated data: none can be exchanged for another.
 */
export interface Vault {
  /** Encrypts a text about a user as a new record; `storeRecord` writes it. */
  seal(userId: number, clear: string): SealedRecord
  /** Decrypts a record. Throws when it or its key was changed or belongs to another record. */
  open(sealed: SealedRecord): string
  /** Identifies a text without revealing it: HMAC-SHA256 as lower-case hex. */
  digest(clear: string): string
  /** Counts and logs a record that could not be read; its reader continues without it. */
  reportUnreadable(recordId: string, reason: UnreadableReason): void
}

/** Creates the vault of a PII_KEY; `reportUnreadable` is called for records that could not be read. */
export function createVault(piiKey: string, reportUnreadable: Vault['reportUnreadable'] = () => {}): Vault {
  const wrapping = deriveKey(piiKey, 'vault: keys of records')
  const digesting = deriveKey(piiKey, 'vault: digests')
  return {
    seal(userId, clear) {
      const record_id = randomUUID()
      const key = randomBytes(KEY_BYTES)
      return {
        record_id,
        user_id: userId,
        sealed: encrypt(createSecretKey(key), `record ${record_id} ${userId}`, Buffer.from(clear, 'utf8')),
        wrapped: encrypt(wrapping, `key ${record_id} ${userId}`, key),
      }
    },
    open({ record_id, user_id, sealed, wrapped }) {
      // Key objects: with the bytes of a key, Node takes four times as long to make a decipher.
      const key = createSecretKey(decrypt(wrapping, `key ${record_id} ${user_id}`, wrapped))
      return decrypt(key, `record ${record_id} ${user_id}`, sealed).toString('utf8')
    },
    reportUnreadable,
    digest: (clear) => createHmac('sha256', digesting).update(clear).digest('hex'),
  }
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Derives a key for one purpose from the configured key. */
const deriveKey = (secret: string, use: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', use, KEY_BYTES)))

/** base64 of nonce, ciphertext and tag; decryption needs the same `context`. */
function encrypt(key: KeyObject, context: string, clear: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(clear), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

function decrypt(key: KeyObject, context: string, text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const ciphertext = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(ciphertext), decipher.final()])
}

/** Why a record cannot be read; `malformed`: its plaintext is not what was expected. */
type UnreadableReason = 'record lost' | 'key lost' | 'not decrypted' | 'malformed'

/** Records logged individually; with a wrong PII_KEY every record is unreadable. */
const MAX_LOGGED_RECORDS = 100
/** Record ids remembered, so that each record is counted once. */
const MAX_REMEMBERED_RECORDS = 10_000

/** Counts and logs unreadable vault records, each of them once while it is remembered. */
export class UnreadableRecords {
  readonly #log: Log
  readonly #countOne: () => void
  readonly #reported = new Set<string>()

  constructor(log: Log, count: () => void) {
    this.#log = log
    this.#countOne = count
  }

  readonly report = (recordId: string, reason: UnreadableReason): void => {
    if (this.#reported.has(recordId)) return
    this.#countOne()
    if (this.#reported.size < MAX_LOGGED_RECORDS) {
      this.#log.warn({ record_id: recordId, reason }, 'vault record cannot be read; it is shown as unreadable')
    }
    if (this.#reported.size < MAX_REMEMBERED_RECORDS) this.#reported.add(recordId)
  }
}
