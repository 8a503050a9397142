import type { Kysely } from 'kysely'
import type { MonthClosing, RecordedClosing } from '../../../schema/closings.ts'
import type { AcknowledgedFinding } from '../../../schema/events.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Closing } from './closing.ts'
import { acknowledgedFinding } from './finding.ts'

const select = (db: Kysely<Tables>) =>
  db
    .selectFrom('month_closings as c')
    .innerJoin('ledger as e', 'e.position', 'c.closing_id')
    .select(['c.month', 'c.closing_id', 'c.first_position', 'c.last_position', 'c.files', 'c.checkpoint', 'e.actor'])
    .select(['c.acknowledged'])
    .select(micros('c.closed_at').as('closed_at'))

type Selected = Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number]

const present = ({ actor, files, checkpoint, acknowledged, ...row }: Selected): MonthClosing =>
  monthClosing(
    { ...row, files: JSON.parse(files), checkpoint: JSON.parse(checkpoint), acknowledged: JSON.parse(acknowledged) },
    actor,
  )

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

/** The acknowledgements of these findings, by id. */
export async function acknowledgementsOf(
  db: Kysely<Tables>,
  findings: readonly string[],
): Promise<ReadonlyMap<string, AcknowledgedFinding>> {
  if (findings.length === 0) return new Map()
  const rows = await selectAcknowledgements(db).where('finding', 'in', findings).execute()
  return new Map(rows.map((row) => [row.finding, acknowledgedFinding(row)]))
}

/** The newest acknowledgements that were made for months before this one. */
export async function earlierAcknowledgements(
  db: Kysely<Tables>,
  month: string,
  limit: number,
): Promise<readonly AcknowledgedFinding[]> {
  const rows = await selectAcknowledgements(db)
    .where('month', '<', month)
    .orderBy('acknowledgement_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(acknowledgedFinding)
}

const selectAcknowledgements = (db: Kysely<Tables>) => db.selectFrom('finding_acknowledgements').selectAll()

/** A closing as its command answers it: who sent the command is known to the sender. */
export const recordedClosing = (closing: Closing): RecordedClosing => ({
  id: closing.closing_id,
  month: closing.month,
  first_position: closing.first_position,
  position: closing.last_position,
  closed_at: isoMicros(closing.closed_at),
  files: [...closing.files],
  checkpoint: closing.checkpoint,
  acknowledged: [...closing.acknowledged],
})

const monthClosing = (closing: Closing, closed_by: string): MonthClosing => ({
  ...recordedClosing(closing),
  closed_by,
})
