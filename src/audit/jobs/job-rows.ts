import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Job } from '../../../schema/finance.ts'
import { isReadOnlyError } from '../../db/postgres-errors.ts'
import { REPLY_RETENTION, readPassedTime } from '../../db/queries/delete-older-rows.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'

// Rows of `jobs`.

/** Events that a job has read, of those that it will read. */
export interface Progress {
  readonly events: number
  readonly of: number
}

/** The process of a job that was not heard of for so long was killed. */
const MAX_SILENCE_SECONDS = 30

/** The process of a job is gone. A sign of life far ahead is that of a clock that has gone back since. */
const isLost: RawBuilder<boolean> = sql<boolean>`(state = 'running'
  and (heartbeat_at < clock_timestamp() - ${MAX_SILENCE_SECONDS} * interval '1 second'
    or heartbeat_at > clock_timestamp() + interval '1 day'))`

/** For joins with other tables, too, that have no column of these names. */
export const isRunning: RawBuilder<boolean> = sql<boolean>`(state = 'running' and not ${isLost})`

const isFull: RawBuilder<boolean> = sql<boolean>`(kind in ('verification', 'streamed-verification') and subject = ''
  and result is not null and result::json ->> 'seal' is null)`

const LOST = 'it was interrupted'

/** A job, with what only the pages and routes of its kind show. */
export interface JobRow {
  readonly job: Job
  /** JSON: what it was asked. */
  readonly input: string
  /** JSON; null before it came to its end. */
  readonly result: string | null
}

export interface JobFilter {
  readonly kind?: Job['kind']
  readonly id?: number
  /** Below this id. */
  readonly before?: number | null | undefined
  readonly exclusive?: string
  readonly isRunning?: true
  /** A verification that read every event of the ledger, and reached its end. */
  readonly isFullVerification?: true
  readonly startedUnder?: { readonly startedBy: string; readonly key: string }
  readonly limit: number
}

/** Jobs, newest first. One that was lost is shown as failed, whether or not somebody marked it. */
export async function readJobs(
  db: Kysely<Tables>,
  { kind, id, before = null, exclusive, isRunning: isWanted, isFullVerification, startedUnder, limit }: JobFilter,
): Promise<JobRow[]> {
  let query = db
    .selectFrom('jobs')
    .select(['job_id', 'subject', 'started_by', 'stopped_by', 'events_read', 'events_total', 'input', 'result'])
    .select([
      sql<Job['kind']>`kind`.as('kind'),
      micros('started_at').as('started'),
      micros('heartbeat_at').as('heard'),
      sql<Micros | null>`case when ${isLost} then ${micros('heartbeat_at')} else ${micros('ended_at')} end`.as('ended'),
      sql<Job['state']>`case when ${isLost} then 'failed' else state end`.as('state'),
      sql<string | null>`case when ${isLost} then ${LOST} else summary end`.as('summary'),
    ])
    .orderBy('job_id', 'desc')
    .limit(limit)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (id !== undefined) query = query.where('job_id', '=', id)
  if (before !== null) query = query.where('job_id', '<', before)
  if (exclusive !== undefined) query = query.where('exclusive', '=', exclusive)
  if (isWanted === true) query = query.where(isRunning)
  if (isFullVerification === true) query = query.where(isFull)
  if (startedUnder !== undefined) {
    const { startedBy, key } = startedUnder
    query = query.where('started_by', '=', startedBy).where('idempotency_key', '=', key)
  }
  const rows = await query.execute()
  return rows.map(
    ({ job_id, started, heard, ended, events_read: events, events_total: of, input, result, summary, ...row }) => {
      const seconds = ((ended ?? heard) - started) / 1_000_000
      // Each step of a closing counts from its own beginning.
      const rate = events > 0 && seconds > 0 && row.kind !== 'closing' ? events / seconds : null
      const left = row.state === 'running' && rate !== null ? Math.max(0, of - events) / rate : null
      return {
        input,
        result,
        job: {
          id: job_id,
          ...row,
          started_at: isoMicros(started),
          ended_at: ended === null ? null : isoMicros(ended),
          progress: { events, of },
          rate: rate === null ? null : Math.round(rate),
          seconds_left: left === null ? null : Math.ceil(left),
          result: summary,
        },
      }
    },
  )
}

export interface NewJob {
  readonly kind: Job['kind']
  /** What it is about: `2026-10`, `34`; empty where its kind says it all. */
  readonly subject: string
  /** `staff:ann` */
  readonly startedBy: string
  /** The Idempotency-Key of the request, unique for each kind and `startedBy`. */
  readonly key?: string | null
  /** Jobs with the same text run one at a time, on all instances and command lines together. */
  readonly exclusive?: string
  /** Whether the caller holds a lock which shows that no process runs a job with the same `exclusive`. */
  readonly isAlone?: boolean
  /** Events to read. */
  readonly of: number
  /** What it was asked; is kept as JSON. */
  readonly input?: unknown
}

/**
 * Adds a job and answers its id; `taken` while another one runs, and when one was started under the same key before. Null
 * for one that only reads, while the database is a standby, which takes no rows: it is done all the same, and not listed.
 */
export async function insertJob(db: Kysely<Tables>, job: NewJob): Promise<number | null | 'taken'> {
  const { kind, subject, startedBy, key = null, exclusive = null, isAlone = false, of, input = null } = job
  try {
    await sql`update jobs set state = 'failed', ended_at = heartbeat_at, summary = ${LOST}
              where exclusive = ${exclusive} and state = 'running' and (${isAlone} or ${isLost})`.execute(db)
    // The index lets one of two instances at once insert.
    const { rows } = await sql<{ job_id: number }>`
      insert into jobs (kind, subject, exclusive, started_by, idempotency_key, events_total, input)
      values (${kind}, ${subject}, ${exclusive}, ${startedBy}, ${key}, ${of}, ${JSON.stringify(input)})
      on conflict do nothing
      returning job_id`.execute(db)
    return rows[0]?.job_id ?? 'taken'
  } catch (error) {
    if (exclusive === null && isReadOnlyError(error)) return null
    throw error
  }
}

/** Writes how far a job is. Answers who asked for its end, null while nobody did; undefined when it was taken for lost. */
export async function recordProgress(
  db: Kysely<Tables>,
  id: number | null,
  { events, of }: Progress,
): Promise<string | null | undefined> {
  if (id === null) return null
  const { rows } = await sql<{ stopped_by: string | null }>`
    update jobs set heartbeat_at = clock_timestamp(), events_read = ${events}, events_total = ${of}
    where job_id = ${id} and state = 'running'
    returning stopped_by`.execute(db)
  return rows[0]?.stopped_by
}

interface EndOfJob {
  readonly summary: string
  /** Null for a job that did not reach its end: it was stopped if somebody asked for that, and else has failed. */
  readonly kept: object | null
  readonly stoppedBy: string | null
}

export async function endJob(
  db: Kysely<Tables>,
  id: number | null,
  { events, of }: Progress,
  { summary, kept, stoppedBy }: EndOfJob,
): Promise<void> {
  if (id === null) return
  const notDone = sql`case when coalesce(stopped_by, ${stoppedBy}) is null then 'failed' else 'stopped' end`
  await sql`
    update jobs
    set state = ${kept === null ? notDone : sql`'done'`}, stopped_by = coalesce(stopped_by, ${stoppedBy}),
        ended_at = clock_timestamp(), heartbeat_at = clock_timestamp(), events_read = ${events}, events_total = ${of},
        summary = ${summary}, result = ${kept === null ? null : JSON.stringify(kept)}
    where job_id = ${id} and state = 'running'`.execute(db)
}

/** Asks for the end of a job, whichever process it is in. */
export async function requestStop(db: Kysely<Tables>, id: number, stoppedBy: string): Promise<void> {
  await sql`update jobs set stopped_by = coalesce(stopped_by, ${stoppedBy})
            where job_id = ${id} and state = 'running'`.execute(db)
}

/** Forgets the keys of jobs and checkpoints when the replies to them are deleted, and jobs that pages started. */
export async function pruneKeys(pool: Pool): Promise<void> {
  const passed = await readPassedTime(pool)
  const isOld = (time: string): string =>
    `idempotency_key is not null and ${time} < $1::timestamptz - interval '${REPLY_RETENTION}'`
  await pool.query(`update jobs set idempotency_key = null where ${isOld('started_at')}`, [passed])
  // What pages start while somebody looks at them.
  await pool.query(
    `delete from jobs where kind in ('streamed-verification', 'trial-balance', 'draws')
     and started_at < $1::timestamptz - interval '7 days'`,
    [passed],
  )
  await pool.query(`update made_checkpoints set idempotency_key = null where ${isOld('at')}`, [passed])
}
