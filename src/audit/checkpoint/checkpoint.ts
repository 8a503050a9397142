import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { Value } from '@sinclair/typebox/value'
import { Checkpoint } from '../../../schema/finance.ts'
import { hmac } from '../../ledger/rules/hash.ts'

/** What a checkpoint says: at a time the ledger ended at a position, with a hash that covers all before it. */
export type CheckpointHead = Pick<Checkpoint, 'position' | 'hash' | 'at'>

/** Of a head `h`: it says what the last event does, or that there is none. Nothing else is to be signed. */
export const HEAD_IS_LAST = `(h.position, h.hash) = (
  select coalesce(max(e.position), 0), coalesce(max(e.hash), repeat('0', 64))
  from (select position, hash from ledger_events order by position desc limit 1) e)`
export const HEAD_IS_NOT_LAST = 'The head of the ledger is not its last event: nothing is signed, verify it.'

/** Signs such. The key stays inside. */
export interface CheckpointSigner {
  /** SPKI in base64: what stands between the lines of a PEM file. */
  readonly publicKey: string
  sign(ending: CheckpointHead): Checkpoint
}

/** What is signed: four lines of text, so that OpenSSL alone can check the signature. */
const signedText = ({ position, hash, at }: CheckpointHead): Buffer =>
  Buffer.from(`ledger checkpoint\nposition ${position}\nhash ${hash}\nat ${at}\n`)

/** RFC 8410: what stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The signer of CHECKPOINT_KEY. Its Ed25519 key is HMAC-SHA256 of `checkpoint` by that text. */
export function checkpointSigner(checkpointKey: string): CheckpointSigner {
  const seed = hmac(checkpointKey, 'checkpoint')
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
  return {
    publicKey,
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
 * Reads a checkpoint as `audit checkpoint` prints it. Throws an Error for people when the text is none, or when its
 * signature is not by `publicKey`: the one that was taken down when the first checkpoint was kept; null: the one in
 * the text, which proves only that the text is whole.
 */
export function readCheckpoint(text: string, publicKey: string | null): Checkpoint {
  let checkpoint: unknown
  try {
    checkpoint = JSON.parse(text)
  } catch {
    throw new Error('This is no checkpoint: it is not JSON.')
  }
  if (!Value.Check(Checkpoint, checkpoint)) throw new Error('This is no checkpoint: it lacks fields of one.')
  if (publicKey !== null && !publicKeyOf(publicKey).equals(publicKeyOf(checkpoint.public_key))) {
    throw new Error('The checkpoint was signed by another key.')
  }
  const signature = Buffer.from(checkpoint.signature, 'base64')
  if (!verify(null, signedText(checkpoint), publicKeyOf(checkpoint.public_key), signature)) {
    throw new Error("The checkpoint's signature is wrong: its text was changed.")
  }
  return checkpoint
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
  if (key?.asymmetricKeyType !== 'ed25519') throw new Error('This is no public key of checkpoints (Ed25519, SPKI).')
  return key
}
