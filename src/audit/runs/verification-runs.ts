import type { Kysely } from 'kysely'
import type { Checkpoint, VerificationRun } from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import type { Log } from '../../db/log.ts'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { ChooseReportDatabase } from '../../db/queries/report-database.ts'
import type { Tables } from '../../db/tables.ts'
import { findRunByKey, insertRun, MAX_SILENCE_SECONDS, readRuns, requestStop } from './run-rows.ts'
import { runVerification } from './run-verification.ts'

export interface RunOptions {
  /** The primary, for the table of runs. */
  readonly url: string
  readonly chooseReportDatabase: ChooseReportDatabase
  /** Decrypts the records of the vault. */
  readonly piiKey: string
  readonly log: Log
  readonly heartbeatMs?: number
  readonly maxSilenceSeconds?: number
}

interface Running {
  readonly id: number
  readonly abort: AbortController
  readonly done: Promise<void>
}

/**
 * Verifications that run in the background, one at a time on all instances together. What they found and how far they
 * are is in a table, so that any instance shows and stops them.
 */
export class VerificationRuns {
  readonly #options: RunOptions
  readonly #db: Kysely<Tables>
  readonly #heartbeatMs: number | undefined
  readonly #maxSilenceSeconds: number
  #running: Running | undefined
  #isClosed = false

  constructor(options: RunOptions) {
    this.#options = options
    const pool = openPool(options.url, { max: 2, application_name: 'economy verifications' }, options.log)
    this.#db = queryBuilder(pool)
    this.#heartbeatMs = options.heartbeatMs
    this.#maxSilenceSeconds = options.maxSilenceSeconds ?? MAX_SILENCE_SECONDS
  }

  /** Starts a verification; null while another one runs. Answers the one that was started under the same key before. */
  async start(
    startedBy: string,
    { checkpoint, key }: { readonly checkpoint: Checkpoint | null; readonly key: string | null },
  ): Promise<VerificationRun | null> {
    const earlier = await this.#startedUnder(startedBy, key)
    if (earlier !== null) return earlier
    const { db, url } = await this.#options.chooseReportDatabase()
    const of = await headOf(db)
    const id = await insertRun(this.#db, { startedBy, key, total: of, checkpoint }, this.#maxSilenceSeconds)
    // A request with the same key may have started it in the meantime.
    if (id === null) return this.#startedUnder(startedBy, key)
    const abort = new AbortController()
    const done = this.#run(id, url, checkpoint, of, abort)
    this.#running = { id, abort, done }
    if (this.#isClosed) abort.abort()
    return this.find(id)
  }

  /** Asks for the end of a run. Answers the run, which may end a moment later; null when there is none. */
  async stop(id: number, stoppedBy: string): Promise<VerificationRun | null> {
    await requestStop(this.#db, id, stoppedBy)
    if (this.#running?.id === id) {
      this.#running.abort.abort()
      await this.#running.done
    }
    return this.find(id)
  }

  async find(id: number): Promise<VerificationRun | null> {
    const [run] = await readRuns(this.#db, { id, limit: 1 }, this.#maxSilenceSeconds)
    return run ?? null
  }

  /** The newest runs, with ids below `before`. */
  list(limit: number, before: number | null = null): Promise<readonly VerificationRun[]> {
    return readRuns(this.#db, { before, limit }, this.#maxSilenceSeconds)
  }

  /** Ends this instance's run and waits for it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#running?.abort.abort()
    await this.#running?.done
    await this.#db.destroy()
  }

  async #startedUnder(startedBy: string, key: string | null): Promise<VerificationRun | null> {
    const id = key === null ? null : await findRunByKey(this.#db, startedBy, key)
    return id === null ? null : this.find(id)
  }

  async #run(
    id: number,
    url: string,
    checkpoint: Checkpoint | null,
    total: number,
    abort: AbortController,
  ): Promise<void> {
    const { log, piiKey } = this.#options
    const { signal } = abort
    const heartbeatMs = this.#heartbeatMs
    try {
      await runVerification(this.#db, { id, url, checkpoint, piiKey, total, signal, log, heartbeatMs })
    } catch {
      // Its row says so.
    } finally {
      if (this.#running?.id === id) this.#running = undefined
    }
  }
}
