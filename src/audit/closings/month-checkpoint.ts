import type { Checkpoint } from '../../../schema/finance.ts'
import { micros } from '../../db/queries/expressions.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { findCheckpointOf, rememberCheckpoint } from '../checkpoint/made-checkpoints.ts'
import type { StepOptions } from './step-task.ts'

/** The checkpoint of the month: export and checkpoint have the same one, whichever was made first, on any instance. */
export async function monthCheckpoint({
  db,
  books,
  signer,
  madeBy,
}: Pick<StepOptions, 'db' | 'books' | 'signer' | 'madeBy'>): Promise<Checkpoint> {
  const { hash, signed_at } = await db
    .selectFrom('ledger_events')
    .select('hash')
    .select(micros('clock_timestamp()').as('signed_at'))
    .where('position', '=', books.last)
    .executeTakeFirstOrThrow()
  const made = await findCheckpointOf(db, signer, { position: books.last, hash })
  if (made !== null) return made
  const checkpoint = signer.sign({ position: books.last, hash, at: isoMicros(signed_at) })
  await rememberCheckpoint(db, checkpoint, madeBy)
  return checkpoint
}
