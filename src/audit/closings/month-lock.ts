import type { Client } from 'pg'
import { connect } from '../../db/connect.ts'
import { lockName } from '../../db/ledger-url.ts'
import { isLockTimeout } from '../../db/postgres-errors.ts'

/** The former holder may be about to release the lock: the end of a step is seen a moment before that of its lock. */
const LOCK_TIMEOUT = '1s'
/** PostgreSQL ends the session of a host that vanished, and frees its lock, after 11 seconds: the holder stops before. */
const QUERY_TIMEOUT_MS = 8_000
const PING_INTERVAL_MS = 1_000

/**
 * The right to write the files of a month's closing, or to record them. Steps hold it alone, on all instances and command
 * lines together; recordings share it, as they only read, and the ledger takes one of them. It is an advisory lock on a
 * connection of its own, so that the end of a process frees it.
 */
export class MonthLock {
  readonly #client: Client
  readonly #lost = new AbortController()
  #ping: NodeJS.Timeout | undefined

  private constructor(client: Client) {
    this.#client = client
  }

  /** Null while another step of the month runs, or its closing is being recorded. `url` is that of the primary. */
  static forSteps(url: string, month: string): Promise<MonthLock | null> {
    return MonthLock.#acquire(url, month, 'pg_advisory_lock')
  }

  /** Null while a step of the month runs. */
  static forRecording(url: string, month: string): Promise<MonthLock | null> {
    return MonthLock.#acquire(url, month, 'pg_advisory_lock_shared')
  }

  static async #acquire(
    url: string,
    month: string,
    acquire: 'pg_advisory_lock' | 'pg_advisory_lock_shared',
  ): Promise<MonthLock | null> {
    const client = await connect(url, 'economy closing', {
      pipeline: true,
      query_timeout: QUERY_TIMEOUT_MS,
      settings: `set lock_timeout = '${LOCK_TIMEOUT}'`,
    })
    const lock = new MonthLock(client)
    client.on('error', () => lock.#lose())
    client.on('end', () => lock.#lose())
    try {
      await client.query(`select ${acquire}(hashtextextended($1, 0))`, [lockName(url, `closing of ${month}`)])
    } catch (error) {
      await lock.close()
      if (isLockTimeout(error)) return null
      throw error
    }
    lock.#ping = setInterval(() => void client.query('select 1').catch(() => lock.#lose()), PING_INTERVAL_MS)
    return lock
  }

  /** Aborted when the connection broke: somebody else may hold the lock now. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  async close(): Promise<void> {
    clearInterval(this.#ping)
    const timeout = setTimeout(() => this.#lose(), QUERY_TIMEOUT_MS)
    await this.#client.end().catch(() => {})
    clearTimeout(timeout)
  }

  #lose(): void {
    if (this.#lost.signal.aborted) return
    clearInterval(this.#ping)
    this.#client.connection.stream.destroy()
    this.#lost.abort(new Error('The connection that kept others from this month was lost.'))
  }
}
