import { type Kysely, sql } from 'kysely'
import type { Checkpoint, MadeCheckpoint } from '../../../schema/finance.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { CheckpointSigner } from './checkpoint.ts'
import { readCheckpointHead } from './read-checkpoint-head.ts'

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
