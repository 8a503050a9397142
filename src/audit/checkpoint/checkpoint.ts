import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { Value } from '@sinclair/typebox/value'
import { Checkpoint } from '../../../schema/finance.ts'
import { hmac } from '../../ledger/rules/hash.ts'

/** A checkpoint's content: where the ledger ended at a time, and the hash, which covers all events up to there. */
export type CheckpointHead = Pick<Checkpoint, 'position' | 'hash' | 'at'>

/** SQL: whether the head `h` matches the last event, or an empty ledger. Only such a head is signed. */
export const HEAD_IS_LAST = `(h.position, h.hash) = (
  select coalesce(max(e.position), 0), coalesce(max(e.hash), repeat('0', 64))
  from (select position, hash from ledger_events order by position desc limit 1) e)`
export const HEAD_IS_NOT_LAST =
  'The head of the ledger does not match its last event; nothing was signed. Run `audit verify`.'

/** Signs checkpoints; does not expose the private key. */
export interface CheckpointSigner {
  /** SPKI in base64: the body of a PEM file. */
  readonly publicKey: string
  sign(head: CheckpointHead): Checkpoint
  /** The signature of another text than a checkpoint's, in base64. */
  signText(text: string): string
}

/** The signed text: four lines, so that OpenSSL alone can check the signature. */
const signedText = ({ position, hash, at }: CheckpointHead): Buffer =>
  Buffer.from(`ledger checkpoint\nposition ${position}\nhash ${hash}\nat ${at}\n`)

/** RFC 8410: the bytes before the 32 of an Ed25519 key in PKCS #8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A signer whose Ed25519 key is the HMAC-SHA256 of the text `checkpoint` under CHECKPOINT_KEY. */
export function checkpointSigner(checkpointKey: string): CheckpointSigner {
  const seed = hmac(checkpointKey, 'checkpoint')
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
  return {
    publicKey,
    signText: (text) => sign(null, Buffer.from(text), key).toString('base64'),
    sign: ({ position, hash, at }) => ({
      position,
      hash,
      at,
      algorithm: 'Ed25519',
      public_key: publicKey,
      signature: sign(null, signedText({ position, hash, at }), key).toString('base64'),
    }),
  }
}

/**
 * Reads a checkpoint as `audit checkpoint` prints it, and checks its signature by `publicKey`, which the auditor noted
 * with the first checkpoint. With null it uses the key in the text, which proves only that the text is unchanged. Throws
 * with a message for people when the text is not a checkpoint or not signed by the key.
 */
export function readCheckpoint(text: string, publicKey: string | null): Checkpoint {
  let checkpoint: unknown
  try {
    checkpoint = JSON.parse(text)
  } catch {
    throw new Error('This is not a checkpoint: it is not JSON.')
  }
  if (!Value.Check(Checkpoint, checkpoint)) throw new Error('This is not a checkpoint: fields are missing or invalid.')
  if (publicKey !== null && !publicKeyOf(publicKey).equals(publicKeyOf(checkpoint.public_key))) {
    throw new Error('The checkpoint was signed by another key.')
  }
  const signature = Buffer.from(checkpoint.signature, 'base64')
  if (!verify(null, signedText(checkpoint), publicKeyOf(checkpoint.public_key), signature)) {
    throw new Error("The checkpoint's signature is wrong: its text was changed.")
  }
  return checkpoint
}

/** Whether a text has this signature by a public key; false for what is no key. */
export function isSignatureOf(text: string, signature: string, publicKey: string): boolean {
  try {
    return verify(null, Buffer.from(text), publicKeyOf(publicKey), Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

/** An Ed25519 key from PEM, or from its one line of base64. */
function publicKeyOf(text: string): KeyObject {
  const base64 = text.replaceAll(/-----[A-Z ]+-----|\\n|\s/g, '')
  let key: KeyObject | undefined
  try {
    key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
  } catch {
    key = undefined
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new Error('This is not a public key of checkpoints (Ed25519, SPKI).')
  return key
}
