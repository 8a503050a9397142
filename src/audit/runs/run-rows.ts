import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Checkpoint, VerificationRun } from '../../../schema/finance.ts'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import type { Finding } from '../finding.ts'
import type { Progress } from '../ledger-scan.ts'
import type { Verification } from '../verify/verify.ts'

// Rows of `verification_runs`.

/** The instance of a run that was not heard of for so long was killed, and another run may start. */
export const MAX_SILENCE_SECONDS = 30

interface Row {
  readonly run_id: number
  readonly started_by: string
  readonly started: Micros
  readonly heard: Micros
  readonly ended: Micros | null
  readonly outcome: VerificationRun['outcome']
  readonly events_read: number
  readonly events_total: number
  readonly up_to: number | null
  readonly stopped_by: string | null
  readonly findings: string
  readonly checkpoint: string | null
}

const isLost = (maxSilenceSeconds: number): RawBuilder<boolean> =>
  // Far ahead it is that of a clock that has gone back since.
  sql<boolean>`(outcome = 'running' and (heartbeat_at < clock_timestamp() - ${maxSilenceSeconds} * interval '1 second'
    or heartbeat_at > clock_timestamp() + interval '1 day'))`

/** Runs, newest first, with ids below `before`. A run that was lost is shown as failed, whether somebody marked it or not. */
export async function readRuns(
  db: Kysely<Tables>,
  { id, before, limit }: { readonly id?: number; readonly before?: number | null; readonly limit: number },
  maxSilenceSeconds = MAX_SILENCE_SECONDS,
): Promise<VerificationRun[]> {
  let query = db
    .selectFrom('verification_runs')
    .select(['run_id', 'started_by', 'events_read', 'events_total', 'up_to', 'stopped_by', 'findings', 'checkpoint'])
    .select([
      micros('started_at').as('started'),
      micros('heartbeat_at').as('heard'),
      sql<Micros | null>`case when ${isLost(maxSilenceSeconds)} then ${micros('heartbeat_at')}
                              else ${micros('ended_at')} end`.as('ended'),
      sql<Row['outcome']>`case when ${isLost(maxSilenceSeconds)} then 'failed' else outcome end`.as('outcome'),
    ])
    .orderBy('run_id', 'desc')
    .limit(limit)
  if (id !== undefined) query = query.where('run_id', '=', id)
  if (before !== undefined && before !== null) query = query.where('run_id', '<', before)
  return (await query.execute()).map(presentRun)
}

function presentRun(row: Row): VerificationRun {
  const { started, ended, heard, events_read, events_total, outcome } = row
  const seconds = ((ended ?? heard) - started) / 1_000_000
  const rate = events_read > 0 && seconds > 0 ? events_read / seconds : null
  const left = outcome === 'running' && rate !== null ? Math.max(0, events_total - events_read) / rate : null
  const findings: Finding[] = JSON.parse(row.findings)
  const checkpoint: Checkpoint | null = row.checkpoint === null ? null : JSON.parse(row.checkpoint)
  return {
    id: row.run_id,
    outcome,
    started_by: row.started_by,
    started_at: isoMicros(started),
    ended_at: ended === null ? null : isoMicros(ended),
    stopped_by: row.stopped_by,
    progress: { events: events_read, of: events_total },
    rate: rate === null ? null : Math.round(rate),
    seconds_left: left === null ? null : Math.ceil(left),
    up_to: row.up_to,
    checkpoint,
    findings,
  }
}

export interface NewRun {
  readonly startedBy: string
  /** The Idempotency-Key of the request, unique for each `startedBy`. */
  readonly key: string | null
  readonly total: number
  readonly checkpoint: Checkpoint | null
}

/** Adds a run and answers its id; null while another one runs. Runs that were lost are ended first. */
export async function insertRun(
  db: Kysely<Tables>,
  { startedBy, key, total, checkpoint }: NewRun,
  maxSilenceSeconds = MAX_SILENCE_SECONDS,
): Promise<number | null> {
  await sql`update verification_runs set outcome = 'failed', ended_at = heartbeat_at
            where ${isLost(maxSilenceSeconds)}`.execute(db)
  // Of two instances at once, the index lets one insert.
  const { rows } = await sql<{ run_id: number }>`
    insert into verification_runs (started_by, idempotency_key, events_total, checkpoint)
    values (${startedBy}, ${key}, ${total}, ${checkpoint === null ? null : JSON.stringify(checkpoint)})
    on conflict do nothing
    returning run_id`.execute(db)
  return rows[0]?.run_id ?? null
}

/** The id of the run that was started under an Idempotency-Key; null when there is none. */
export async function findRunByKey(db: Kysely<Tables>, startedBy: string, key: string): Promise<number | null> {
  const row = await db
    .selectFrom('verification_runs')
    .select('run_id')
    .where('started_by', '=', startedBy)
    .where('idempotency_key', '=', key)
    .executeTakeFirst()
  return row?.run_id ?? null
}

/** Writes how far a run is. `isWanted` is false once somebody asked for its end, or it was taken for lost. */
export async function recordProgress(
  db: Kysely<Tables>,
  id: number,
  { events, of }: Progress,
): Promise<{ readonly isWanted: boolean }> {
  const { rows } = await sql<{ stopped_by: string | null }>`
    update verification_runs
    set heartbeat_at = clock_timestamp(), events_read = ${events}, events_total = ${of}
    where run_id = ${id} and outcome = 'running'
    returning stopped_by`.execute(db)
  return { isWanted: rows[0]?.stopped_by === null }
}

/** Ends a run; with a verification it reached its end. */
export async function endRun(
  db: Kysely<Tables>,
  id: number,
  outcome: Exclude<VerificationRun['outcome'], 'running'>,
  { events, of }: Progress,
  verification: Verification | null,
): Promise<void> {
  await sql`
    update verification_runs
    set outcome = ${outcome}, ended_at = clock_timestamp(), heartbeat_at = clock_timestamp(),
        events_read = ${verification?.events ?? events}, events_total = ${verification?.events ?? of},
        up_to = ${verification?.position ?? null}, findings = ${JSON.stringify(verification?.findings ?? [])}
    where run_id = ${id} and outcome = 'running'`.execute(db)
}

/** Asks for the end of a run, whichever instance it is on. */
export async function requestStop(db: Kysely<Tables>, id: number, stoppedBy: string): Promise<void> {
  await sql`update verification_runs set stopped_by = coalesce(stopped_by, ${stoppedBy})
            where run_id = ${id} and outcome = 'running'`.execute(db)
}
