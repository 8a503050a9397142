import { randomUUID } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import { type ClosingStep, closingSteps } from '../../features/closings/closing-steps.ts'
import { acknowledgementsOf } from '../../features/closings/reads.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Progress } from '../ledger-scan.ts'
import { StoppedBy } from '../runs/run-verification.ts'
import type { BegunStep, StepState } from './step-state.ts'
import type { FoundByStep, StepOutcome } from './step-task.ts'

// Rows of `closing_steps`, so that every instance shows the same steps.

/** The process of a step that was not heard of for so long was ended. */
const MAX_SILENCE_SECONDS = 30

const isLost: RawBuilder<boolean> = sql<boolean>`(state = 'running'
  and heartbeat_at < clock_timestamp() - ${MAX_SILENCE_SECONDS} * interval '1 second')`

/**
 * The eight steps of a month in their order. One whose process died is shown as failed, and one that found only what was
 * acknowledged as done.
 */
export async function readSteps(db: Kysely<Tables>, month: string): Promise<readonly StepState[]> {
  const rows = await db
    .selectFrom('closing_steps')
    .select(['step', 'made_by', 'first_position', 'last_position', 'events_read', 'events_total', 'queued'])
    .select(['stopped_by', 'kept_in', 'folder_id', 'result', 'files', 'findings', 'has_more_findings'])
    .select([
      micros('started_at').as('started'),
      micros('heartbeat_at').as('heard'),
      sql<BegunStep['state']>`case when ${isLost} then 'failed' else state end`.as('state'),
      sql<string | null>`case when ${isLost} then 'it was interrupted' else error end`.as('error'),
    ])
    .where('month', '=', month)
    .execute()
  const found = new Map(rows.map(({ step, findings }): [string, FoundByStep[]] => [step, JSON.parse(findings)]))
  const acknowledged = await acknowledgementsOf(
    db,
    [...found.values()].flat().map(({ finding }) => finding),
  )
  return closingSteps.map((step): StepState => {
    const row = rows.find((one) => one.step === step)
    if (row === undefined) return { step, state: 'waiting' }
    const { events_read: events, events_total: of } = row
    const findings = (found.get(step) ?? []).map((one) => ({
      ...one,
      acknowledged: acknowledged.get(one.finding) ?? null,
    }))
    const isAcknowledged =
      findings.length > 0 && !row.has_more_findings && findings.every((one) => one.acknowledged !== null)
    return {
      step,
      state: row.state === 'failed' && isAcknowledged ? 'done' : row.state,
      findings,
      made_by: row.made_by,
      started_at: isoMicros(row.started),
      heartbeat_at: isoMicros(row.heard),
      first: row.first_position,
      last: row.last_position,
      progress: events === null || of === null ? null : { events, of },
      queued: JSON.parse(row.queued),
      stopped_by: row.stopped_by,
      kept_in: row.kept_in,
      folder_id: row.folder_id,
      result: row.result === null ? null : JSON.parse(row.result),
      files: JSON.parse(row.files),
      error: row.error,
    }
  })
}

export async function readStep(db: Kysely<Tables>, month: string, step: ClosingStep): Promise<StepState> {
  const found = (await readSteps(db, month)).find((one) => one.step === step)
  return found ?? { step, state: 'waiting' }
}

export interface NewStep
  extends Readonly<Pick<BegunStep, 'step' | 'made_by' | 'first' | 'last' | 'queued' | 'kept_in' | 'folder_id'>> {
  readonly month: string
}

/** A request to stop comes before a step begins, or after that, and never unseen in between. */
const lockSteps = sql`lock table closing_steps in share row exclusive mode`

/**
 * Replaces what the step came to before; answers the id of the run. Its caller holds the lock of the month. Throws
 * `StoppedBy` when somebody asked for the end after the step `previous` of the same run of steps had ended.
 */
export async function beginStep(
  db: Kysely<Tables>,
  { month, step, made_by, first, last, queued, kept_in, folder_id }: NewStep,
  previous: string | null,
): Promise<string> {
  const runId = randomUUID()
  await db.transaction().execute(async (transaction) => {
    await lockSteps.execute(transaction)
    const stop = await transaction
      .selectFrom('closing_steps')
      .select('stopped_by')
      .where('run_id', '=', previous)
      .where('stopped_by', 'is not', null)
      .executeTakeFirst()
    if (stop?.stopped_by) throw new StoppedBy(stop.stopped_by)
    await sql`delete from closing_steps where month = ${month} and step = ${step}`.execute(transaction)
    await sql`
      insert into closing_steps (month, step, run_id, state, made_by, first_position, last_position, queued, kept_in,
                                 folder_id)
      values (${month}, ${step}, ${runId}, 'running', ${made_by}, ${first}, ${last}, ${JSON.stringify(queued)},
              ${kept_in}, ${folder_id})`.execute(transaction)
  })
  return runId
}

/** Writes how far a step is. Answers who asked for its end; null while it is to go on. */
export async function recordStepProgress(
  db: Kysely<Tables>,
  runId: string,
  progress: Progress | null,
): Promise<string | null> {
  const { rows } = await sql<{ stopped_by: string | null }>`
    update closing_steps
    set heartbeat_at = clock_timestamp(), events_read = ${progress?.events ?? null},
        events_total = ${progress?.of ?? null}
    where run_id = ${runId} and state = 'running'
    returning stopped_by`.execute(db)
  return rows[0]?.stopped_by ?? null
}

type EndedStep = Pick<BegunStep, 'state' | 'result' | 'files' | 'error'> &
  Pick<StepOutcome, 'findings' | 'hasMoreFindings'>

/** Answers who asked for its end, which may have been after its last sign of life; null when nobody did. */
export async function endStep(
  db: Kysely<Tables>,
  runId: string,
  { state, result, files, findings = [], hasMoreFindings = false, error }: EndedStep,
): Promise<string | null> {
  const { rows } = await sql<{ stopped_by: string | null }>`
    update closing_steps
    set state = ${state}, heartbeat_at = clock_timestamp(), error = ${error}, files = ${JSON.stringify(files)},
        findings = ${JSON.stringify(findings)}, has_more_findings = ${hasMoreFindings},
        result = ${result === null ? null : JSON.stringify(result)}
    where run_id = ${runId} and state = 'running'
    returning stopped_by`.execute(db)
  return rows[0]?.stopped_by ?? null
}

/**
 * Asks for the end of the steps of a month that run, whichever instance they are on. Between two of them, the one that ended
 * last says so to the next one.
 */
export async function requestStepStop(db: Kysely<Tables>, month: string, stoppedBy: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await lockSteps.execute(transaction)
    await sql`
      update closing_steps set stopped_by = coalesce(stopped_by, ${stoppedBy})
      where (state = 'running' or queued <> '[]')
        and run_id = (select run_id from closing_steps where month = ${month} order by heartbeat_at desc limit 1)
    `.execute(transaction)
  })
}
