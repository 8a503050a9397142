import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { Value } from '@sinclair/typebox/value'
import { type Kysely, sql } from 'kysely'
import type { ClientBase } from 'pg'
import { Checkpoint, type MadeCheckpoint } from '../../schema/finance.ts'
import { readLedgerSchema } from '../config/environment.ts'
import { readSecret } from '../config/files.ts'
import { fingerprint, type GuardedKey, guardedKeys, keyFile } from '../config/keys.ts'
import { micros } from '../db/queries/expressions.ts'
import type { Tables } from '../db/tables.ts'
import { hmac } from '../ledger/rules/hash.ts'
import { isoMicros } from '../ledger/rules/time.ts'
import { dataDirOf } from './database.ts'
import type { Query } from './seals/read-seals.ts'

/** A checkpoint's content: where the ledger ended at a time, and the hash, which covers all events up to there. */
export type CheckpointHead = Pick<Checkpoint, 'position' | 'hash' | 'at'>

/** SQL: whether the head `h` matches the last event, or an empty ledger. Only such a head is signed. */
const HEAD_IS_LAST = `(h.position, h.hash) = (
  select coalesce(max(e.position), 0), coalesce(max(e.hash), repeat('0', 64))
  from (select position, hash from ledger order by position desc limit 1) e)`
const HEAD_IS_NOT_LAST = 'The head of the ledger does not match its last event; nothing was signed. Run `audit verify`.'

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

/** The name under which the first start of the service keeps its public key; the service's role cannot change it. */
const PUBLIC_KEY_NAME = 'checkpoint public key'

/** Keeps the public key of a ledger, for `keptPublicKey`, if none is kept. */
export async function keepPublicKey(client: ClientBase, { publicKey }: CheckpointSigner): Promise<void> {
  await client.query('insert into key_fingerprints (name, fingerprint) values ($1, $2) on conflict do nothing', [
    PUBLIC_KEY_NAME,
    publicKey,
  ])
}

/** The public key with which the service checks what it signed; undefined where none has started yet. */
export async function keptPublicKey(query: Query): Promise<string | undefined> {
  const [kept] = await query('select fingerprint from key_fingerprints where name = $1', [PUBLIC_KEY_NAME])
  return kept?.['fingerprint'] ?? undefined
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

/** The end of the ledger now, by the database's clock. Throws when the head does not match the last event. */
export async function readCheckpointHead(db: Kysely<Tables>): Promise<CheckpointHead> {
  const head = await db
    .selectFrom('ledger_head as h')
    .select(['position', 'hash'])
    .select(micros('clock_timestamp()').as('now'))
    .where(sql<boolean>`${sql.raw(HEAD_IS_LAST)}`)
    .executeTakeFirst()
  if (head === undefined) throw new Error(HEAD_IS_NOT_LAST)
  const { position, hash, now } = head
  return { position, hash, at: isoMicros(now) }
}

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

/** Who makes a checkpoint, and the Idempotency-Key of the request, unique for each `by`. */
interface Maker {
  readonly by: string
  readonly key: string | null
}

/** Signs where the ledger ends, and remembers who did. Answers the checkpoint that was made under the same key before. */
export async function makeCheckpoint(
  db: Kysely<Tables>,
  signer: CheckpointSigner,
  { by, key }: Maker,
): Promise<MadeCheckpoint> {
  const id = await insertCheckpoint(db, signer.sign(await readCheckpointHead(db)), { by, key })
  const made = await readOne(
    db,
    signer,
    // Another request with the same key has made it.
    (query) =>
      id === null
        ? query.where('made_by', '=', by).where('idempotency_key', '=', key)
        : query.where('checkpoint_id', '=', id),
  )
  if (made === null) throw new Error('the checkpoint was not stored')
  return made
}

/** Remembers a checkpoint that was made. */
export async function rememberCheckpoint(db: Kysely<Tables>, checkpoint: Checkpoint, by: string): Promise<void> {
  await insertCheckpoint(db, checkpoint, { by, key: null })
}

/** Its id; null when one was made under the same key before. */
async function insertCheckpoint(
  db: Kysely<Tables>,
  { position, hash, at }: Checkpoint,
  { by, key }: Maker,
): Promise<number | null> {
  const { rows } = await sql<{ checkpoint_id: number }>`
    insert into made_checkpoints (made_by, idempotency_key, at, position, hash)
    values (${by}, ${key}, ${at}, ${position}, ${hash})
    on conflict do nothing
    returning checkpoint_id`.execute(db)
  return rows[0]?.checkpoint_id ?? null
}

/** The newest checkpoint that staff made; null before the first. */
export const readLatestCheckpoint = (db: Kysely<Tables>, signer: CheckpointSigner): Promise<MadeCheckpoint | null> =>
  readOne(db, signer, (query) => query.orderBy('checkpoint_id', 'desc'))

/** The newest checkpoints that staff made. */
export async function readCheckpoints(
  db: Kysely<Tables>,
  signer: CheckpointSigner,
  limit: number,
): Promise<readonly MadeCheckpoint[]> {
  const rows = await select(db).orderBy('checkpoint_id', 'desc').limit(limit).execute()
  return rows.map((row) => present(row, signer))
}

/** Null when there is none with this id. */
export const findCheckpoint = (
  db: Kysely<Tables>,
  signer: CheckpointSigner,
  id: number,
): Promise<MadeCheckpoint | null> => readOne(db, signer, (query) => query.where('checkpoint_id', '=', id))

/** The first checkpoint that was made of a position with that hash, which its signature follows from; null without one. */
export async function findCheckpointOf(
  db: Kysely<Tables>,
  signer: CheckpointSigner,
  { position, hash }: Pick<Checkpoint, 'position' | 'hash'>,
): Promise<Checkpoint | null> {
  const made = await readOne(db, signer, (query) =>
    query.where('position', '=', position).where('hash', '=', hash).orderBy('checkpoint_id'),
  )
  return made?.checkpoint ?? null
}

const select = (db: Kysely<Tables>) =>
  db
    .selectFrom('made_checkpoints')
    .select(['checkpoint_id', 'made_by', 'position', 'hash'])
    .select(micros('at').as('micros'))

async function readOne(
  db: Kysely<Tables>,
  signer: CheckpointSigner,
  which: (query: ReturnType<typeof select>) => ReturnType<typeof select>,
): Promise<MadeCheckpoint | null> {
  const row = await which(select(db)).limit(1).executeTakeFirst()
  return row === undefined ? null : present(row, signer)
}

type Row = Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number]

const present = (
  { checkpoint_id, made_by, position, hash, micros: at }: Row,
  signer: CheckpointSigner,
): MadeCheckpoint => ({
  id: checkpoint_id,
  made_by,
  checkpoint: signer.sign({ position, hash, at: isoMicros(at) }),
})
