import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Log } from '../../db/log.ts'
import { openPool, readPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import {
  endJob,
  insertJob,
  type JobFilter,
  type JobRow,
  type NewJob,
  type Progress,
  readJobs,
  recordProgress,
  requestStop,
} from './job-rows.ts'

/** How often a job writes how far it is, and looks whether it must stop. */
const HEARTBEAT_MS = 1_000
/** How often a result is stored before it is given up, as the database may be away for a moment, and the pause in between. */
const MAX_END_TRIES = 5
const END_PAUSE_MS = 1_000

/** What a job does. `progress` says how far it is; with `signal` it ends, and rejects. */
export type Work<Result> = (
  job: JobControl,
  progress: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<Done<Result>>

interface JobControl {
  /** The id of its row; null for a job without one. */
  readonly id: number | null
  /** Between two parts: throws when somebody asked for its end, even a moment ago. */
  readonly check: () => Promise<void>
}

/** What a job came to. */
interface Done<Result> {
  readonly result: Result
  /** The same in a sentence, for people. */
  readonly summary: string
  /** The part of it that its row keeps as JSON, for the pages and routes of its kind. */
  readonly kept?: object
}

/** A job of this process. */
export interface RunningJob<Result> {
  readonly id: number | null
  /** Rejects when it did not reach its end. */
  readonly ended: Promise<Result>
  readonly progress: () => Progress
  readonly abort: (reason: Error) => void
}

/** A job that nothing keeps from starting. */
export type SharedJob = NewJob & { readonly exclusive?: never; readonly key?: never }

/** What a job is a part of, which ends it and is told how far it is. */
export interface Outer {
  readonly signal?: AbortSignal
  readonly progress?: (progress: Progress) => void
}

/** The reason of a signal by which a member of staff stops a job. */
export class JobStopped extends Error {
  override readonly name = 'JobStopped'
  readonly by: string

  constructor(by: string) {
    super('it was stopped')
    this.by = by
  }
}

/**
 * Everything that takes long. A job has a row in `jobs`, by which any instance shows it and stops it: about every second
 * it writes there how far it is, and reads whether somebody asked for its end. A job whose process was killed is silent,
 * and after 30 seconds has failed: what it kept others from can be started again. Nobody takes over its work.
 */
export class Jobs implements AsyncDisposable {
  readonly #db: Kysely<Tables>
  readonly #log: Log
  readonly #heartbeatMs: number
  readonly #running = new Set<RunningJob<unknown>>()
  #isClosed = false

  /** `url` is that of the primary. Its connections are no others', so that commands and reports keep no job silent. */
  constructor(url: string, log: Log, heartbeatMs = HEARTBEAT_MS) {
    this.#db = queryBuilder(readPool(openPool(url, { max: 2, application_name: 'economy jobs' }, log)))
    this.#log = log
    this.#heartbeatMs = heartbeatMs
  }

  /** Starts a job; null while one runs that it excludes, and when one was started under the same key before. */
  start<Result>(job: SharedJob, work: Work<Result>, outer?: Outer): Promise<RunningJob<Result>>
  start<Result>(job: NewJob, work: Work<Result>, outer?: Outer): Promise<RunningJob<Result> | null>
  async start<Result>(job: NewJob, work: Work<Result>, outer?: Outer): Promise<RunningJob<Result> | null> {
    const id = await insertJob(this.#db, job)
    if (id === 'taken') return null
    const stop = new AbortController()
    const abort = (reason: Error): void => stop.abort(reason)
    const signal = outer?.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, outer.signal])
    let latest: Progress = { events: 0, of: job.of }
    const progress = (made: Progress): void => {
      latest = made
      outer?.progress?.(made)
    }
    const beat = async (): Promise<void> => {
      const stoppedBy = await recordProgress(this.#db, id, latest)
      if (stoppedBy === undefined) abort(new Error('it was taken for lost'))
      else if (stoppedBy !== null) abort(new JobStopped(stoppedBy))
    }
    const check = async (): Promise<void> => {
      await beat()
      signal.throwIfAborted()
    }
    const run = async (): Promise<Result> => {
      const warn = (err: unknown, message: string): void => this.#log.warn({ err, id, kind: job.kind }, message)
      const heartbeat = setInterval(() => {
        // The next one is a second later; without any, the job is taken for lost.
        beat().catch((err: unknown) => warn(err, 'the progress of a job was not stored'))
      }, this.#heartbeatMs)
      try {
        const { result, summary, kept = {} } = await work({ id, check }, progress, signal)
        for (let tries = 1; ; tries += 1) {
          try {
            await endJob(this.#db, id, latest, { summary, kept, stoppedBy: null })
            return result
          } catch (err) {
            if (tries === MAX_END_TRIES) {
              warn(err, 'the result of a job was not stored; it is lost')
              return result
            }
            warn(err, 'the result of a job was not stored; retrying')
            await sleep(END_PAUSE_MS)
          }
        }
      } catch (error) {
        if (!signal.aborted) warn(error, 'a job failed')
        const summary = error instanceof Error ? error.message : String(error)
        const stoppedBy = signal.reason instanceof JobStopped ? signal.reason.by : null
        await endJob(this.#db, id, latest, { summary, kept: null, stoppedBy }).catch((err: unknown) =>
          warn(err, 'the end of a job was not stored'),
        )
        throw error
      } finally {
        clearInterval(heartbeat)
      }
    }
    const running: RunningJob<Result> = { id, ended: run(), progress: () => latest, abort }
    this.#running.add(running)
    const forget = (): void => void this.#running.delete(running)
    running.ended.then(forget, forget)
    if (this.#isClosed) abort(processEnds())
    return running
  }

  /** The newest jobs. */
  list(filter: JobFilter): Promise<readonly JobRow[]> {
    return readJobs(this.#db, filter)
  }

  async find(filter: Omit<JobFilter, 'limit'>): Promise<JobRow | null> {
    const [job] = await this.list({ ...filter, limit: 1 })
    return job ?? null
  }

  /** Asks for the end of a job. One of this process has ended then; one of another ends about a second later. */
  async stop(id: number, by: string): Promise<void> {
    await requestStop(this.#db, id, by)
    const running = [...this.#running].find((one) => one.id === id)
    running?.abort(new JobStopped(by))
    await running?.ended.catch(() => {})
  }

  /** Ends the jobs of this process, which then have failed, and waits for that. */
  async close(): Promise<void> {
    this.#isClosed = true
    const running = [...this.#running]
    for (const { abort } of running) abort(processEnds())
    await Promise.allSettled(running.map(({ ended }) => ended))
    await this.#db.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const processEnds = (): Error => new Error('its process was ended')
