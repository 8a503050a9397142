import type { Client, QueryResult } from 'pg'
import { loopTimeout } from '../../db/async.ts'
import { connect, IS_CITUS } from '../../db/connect.ts'
import type { Micros } from '../rules/time.ts'
import { type Query, queryOf } from '../storage/lost-commits.ts'
import { asText, type Statement, type TextRow } from '../storage/row-table.ts'

const ASSERT_TIMEOUT_MS = 3_000
const CLOSE_TIMEOUT_MS = 1_000

/** Throws `Unavailable`, such as `LedgerWentBack`, when the database that answers must not be written. */
export type AssertLedger = (query: Query) => Promise<void>

export type StatementResult = QueryResult<TextRow>

/** Whatever the defaults of the database and of the connection string are. */
const sessionSettings = `
  -- A writer that vanished while it had the head locked must release it soon.
  set idle_in_transaction_session_timeout = '5s'; set lock_timeout = '5s'; set statement_timeout = '10s';
  -- Durable, whatever the role or the database were set to.
  set synchronous_commit = on;
  -- All lookups are by primary key, whatever was in the tables when the plan was made. Citus cannot plan a statement that
  -- writes in a WITH without its parameters.
  select set_config('plan_cache_mode',
                    case when ${IS_CITUS} then 'force_custom_plan' else 'force_generic_plan' end, false);
  set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off`

/** A connection that sends all statements of a step at once; those with a name are prepared once. */
export class PipelinedConnection {
  readonly #client: Client
  #error: Error | undefined

  private constructor(client: Client) {
    this.#client = client
    client.on('error', (error) => {
      this.#error ??= error
    })
  }

  /**
   * Throws when the database cannot be reached within 3 seconds, or says nothing for as long while `assertLedger` asks, and
   * what that throws.
   */
  static async connect(url: string, name: string, assertLedger?: AssertLedger): Promise<PipelinedConnection> {
    const client = await connect(url, name, { pipeline: true, types: asText, settings: sessionSettings })
    const connection = new PipelinedConnection(client)
    // Nobody else could cut it: the caller has no connection yet.
    const cancel = loopTimeout(() => connection.cut(), ASSERT_TIMEOUT_MS)
    try {
      await assertLedger?.(queryOf(client))
      return connection
    } catch (error) {
      connection.cut()
      throw error
    } finally {
      cancel()
    }
  }

  get isBroken(): boolean {
    return this.#error !== undefined
  }

  /** Waits for all results, also after an error, so that none is left on the wire. */
  sendAll(statements: readonly Statement[]): Promise<PromiseSettledResult<StatementResult>[]> {
    const { stream } = this.#client.connection
    // One write for all of them: one system call instead of one a statement.
    stream.cork()
    try {
      return Promise.allSettled(
        statements.map(({ name, text, values }) =>
          this.#client.query<TextRow>(name === '' ? { text } : { name, text, values }),
        ),
      )
    } finally {
      stream.uncork()
    }
  }

  /** As `sendAll`; throws the first error. */
  async query(statements: readonly Statement[]): Promise<StatementResult[]> {
    const results = await this.sendAll(statements)
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason
      return result.value
    })
  }

  /** Drops the connection without waiting for the server. */
  cut(): void {
    this.#error ??= new Error('the connection was cut')
    // On Node the driver's stream is a socket.
    this.#client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    const watchdog = setTimeout(() => this.cut(), CLOSE_TIMEOUT_MS)
    try {
      await this.#client.end()
    } finally {
      clearTimeout(watchdog)
    }
  }
}

/** How long this process's clock is trusted to run at the speed of the database's. */
const MAX_AGE_MS = 10_000

/**
 * The database's clock, one for all instances: the last reading plus this process's monotonic time. Monotonic time
 * stands still while the machine sleeps and the time of day does not, so the age is judged by both.
 */
export class DatabaseClock {
  #reading: { readonly now: Micros; readonly at: number; readonly date: number } | undefined

  /** Takes a reading: the database has just answered with its time. */
  set(now: Micros): void {
    this.#reading = { now, at: performance.now(), date: Date.now() }
  }

  /** Never ahead of the database, as an answer takes its time. Undefined when there is no recent reading. */
  get now(): Micros | undefined {
    const reading = this.#reading
    if (reading === undefined) return undefined
    const ms = performance.now() - reading.at
    return Math.max(ms, Date.now() - reading.date) > MAX_AGE_MS ? undefined : reading.now + Math.floor(ms * 1000)
  }
}
