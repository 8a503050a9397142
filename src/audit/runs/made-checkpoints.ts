import { type Kysely, sql } from 'kysely'
import type { Checkpoint, MadeCheckpoint } from '../../../schema/finance.ts'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import { readCheckpointHead } from '../checkpoint/read-checkpoint-head.ts'

/** Signs where the ledger ends, and remembers who did. */
export const makeCheckpoint = async (
  db: Kysely<Tables>,
  signer: CheckpointSigner,
  madeBy: string,
): Promise<MadeCheckpoint> => rememberCheckpoint(db, signer.sign(await readCheckpointHead(db)), madeBy)

/** Remembers a checkpoint that was made. */
export async function rememberCheckpoint(
  db: Kysely<Tables>,
  checkpoint: Checkpoint,
  madeBy: string,
): Promise<MadeCheckpoint> {
  const { position, hash, at } = checkpoint
  const { rows } = await sql<{ checkpoint_id: number }>`
    insert into made_checkpoints (made_by, at, position, hash)
    values (${madeBy}, ${at}, ${position}, ${hash}) returning checkpoint_id`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the checkpoint was not stored')
  return { id: row.checkpoint_id, made_by: madeBy, checkpoint }
}

/** The newest checkpoint that staff made; null before the first. */
export async function readLatestCheckpoint(
  db: Kysely<Tables>,
  signer: CheckpointSigner,
): Promise<MadeCheckpoint | null> {
  const row = await db
    .selectFrom('made_checkpoints')
    .select(['checkpoint_id', 'made_by', 'position', 'hash'])
    .select(micros('at').as('micros'))
    .orderBy('checkpoint_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return null
  const { checkpoint_id, made_by, position, hash, micros: at } = row
  return { id: checkpoint_id, made_by, checkpoint: signer.sign({ position, hash, at: isoMicros(at) }) }
}
