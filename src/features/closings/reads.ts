import type { Kysely } from 'kysely'
import type { MonthClosing } from '../../../schema/closings.ts'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import { monthClosing } from './presenters.ts'

const select = (db: Kysely<Tables>) =>
  db
    .selectFrom('month_closings as c')
    .innerJoin('ledger_events as e', 'e.position', 'c.closing_id')
    .select(['c.month', 'c.closing_id', 'c.first_position', 'c.last_position', 'c.files', 'c.checkpoint', 'e.actor'])
    .select(micros('c.closed_at').as('closed_at'))

type Selected = Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number]

const present = ({ actor, files, checkpoint, ...row }: Selected): MonthClosing =>
  monthClosing({ ...row, files: JSON.parse(files), checkpoint: JSON.parse(checkpoint) }, actor)

/** Closed months, newest first, with ids below `before`. */
export async function newestClosings(
  db: Kysely<Tables>,
  limit: number,
  before: number | null = null,
): Promise<readonly MonthClosing[]> {
  let query = select(db).orderBy('c.closing_id', 'desc').limit(limit)
  if (before !== null) query = query.where('c.closing_id', '<', before)
  return (await query.execute()).map(present)
}

/** The closing of a month; null while it is open. */
export async function findClosing(db: Kysely<Tables>, month: string): Promise<MonthClosing | null> {
  const row = await select(db).where('c.month', '=', month).executeTakeFirst()
  return row === undefined ? null : present(row)
}
