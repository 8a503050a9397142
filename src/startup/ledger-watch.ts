import type { Logger } from 'pino'
import { compareAtStart, recordLoss, type Watch } from '../audit/with-ledger.ts'
import type { LostCommitsConfig } from '../config/environment.ts'
import { makeFolder } from '../config/files.ts'
import { SingleFlight } from '../db/async.ts'
import { connect } from '../db/connect.ts'
import { isLater, type LastSeen, lastSeenFile, readLastSeen, writeLastSeen } from '../db/last-seen.ts'
import { FailureLog } from '../db/log.ts'
import { DatabaseIsStandby, LedgerWentBack, Unavailable } from '../ledger/executor/failures.ts'
import type { AssertLedger } from '../ledger/executor/pipelined-connection.ts'
import { hashEvent, type StoredEvent } from '../ledger/storage/event-hash.ts'
import {
  type Comparison,
  compareWithSeen,
  describeLoss,
  type Query,
  queryOf,
  readLedgerEnd,
  saveHome,
  seenAt,
} from '../ledger/storage/lost-commits.ts'
import type { Tail } from '../ledger/subscriptions/tail.ts'
import type { Database } from './database.ts'

const CHECK_INTERVAL_MS = 1_000
/** For all that is asked on one connection: the executor and the end of the process wait for it. */
const CONFIRM_TIMEOUT_MS = 5_000

/**
 * Compares the ledger with what this instance has seen of it: whenever the executor connects, and every second. Seen is what
 * was committed: read from the database, or answered here.
 *
 * Once commits were lost, `noticed` is aborted, and everything that this process has in memory is void.
 */
export class LedgerWatch implements Watch {
  readonly #database: Pick<Database, 'url' | 'subscriberPool'>
  readonly #isSynchronous: boolean
  readonly #consequence: string
  readonly #file: string
  readonly #log: Logger
  readonly #failures: FailureLog
  readonly #fileFailures: FailureLog
  readonly #noticed: AbortController
  readonly #confirming = new SingleFlight(() => this.#confirm())
  readonly #checking = new SingleFlight(() => this.#check())
  /** Null: the ledger was empty. */
  #seen: LastSeen | null
  #kept: LastSeen | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(
    database: Pick<Database, 'url' | 'subscriberPool'>,
    config: LostCommitsConfig,
    seen: LastSeen | null,
    noticed: AbortController,
    log: Logger,
  ) {
    this.#database = database
    this.#isSynchronous = config.databaseSynchronous
    this.#consequence = config.onLostCommits === 'stop' ? 'ends' : 'starts again'
    this.#file = lastSeenFile(config.dataDir, config.ledgerSchema)
    this.#seen = seen
    this.#noticed = noticed
    this.#log = log
    this.#failures = new FailureLog(
      log,
      'the ledger cannot be compared with what was seen; retrying',
      'it is compared again',
    )
    this.#fileFailures = new FailureLog(log, `${this.#file} cannot be written`, `${this.#file} is written again`)
  }

  /** Aborted once commits were lost. */
  get noticed(): AbortSignal {
    return this.#noticed.signal
  }

  /**
   * Whatever is written next goes to the database that answers `query`. Not to a standby: PostgreSQL keeps its sessions when
   * it is promoted, so that nobody would look at it again before the first write.
   */
  readonly assertLedger: AssertLedger = async (query) => {
    const found = await this.#compare(query)
    if (this.noticed.aborted) throw new LedgerWentBack('commits were lost')
    if (found === 'unknown') throw new DatabaseIsStandby('the database is a standby')
    if (found !== 'here') throw new Unavailable('another server answers than the one of the ledger')
  }

  /** These events were committed here, and are being answered. */
  readonly committed = (events: readonly StoredEvent[]): void => this.#see(events.at(-1))

  /** Begins to follow the ledger and to look at it every second. */
  async start(tail: Pick<Tail, 'subscribe'>): Promise<void> {
    await this.#checking.run()
    tail.subscribe(this.#seen?.position ?? 0, (events) => this.#follow(events))
    this.#timer = setInterval(() => void this.#checking.run(), CHECK_INTERVAL_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.allSettled([this.#checking.running, this.#confirming.running])
    await this.#keep()
  }

  /** Throws on events of another ledger, which the next check finds. */
  #follow(events: readonly StoredEvent[]): void {
    const seen = this.#seen
    const next = events.find(({ position }) => position === (seen?.position ?? 0) + 1)
    if (seen === null || next === undefined) return
    if (hashEvent(next.entry, seen.hash) !== next.entry.hash) {
      throw new Error(`the event at position ${next.position} does not follow the one that was seen before it`)
    }
    this.#see(events.at(-1))
  }

  #see(last: StoredEvent | undefined): void {
    if (last === undefined || this.#seen === null || last.position <= this.#seen.position) return
    this.#seen = { ...this.#seen, position: last.position, hash: last.entry.hash }
  }

  async #check(): Promise<void> {
    try {
      await this.#compare(queryOf(this.#database.subscriberPool))
      this.#failures.succeeded(this)
    } catch (error) {
      this.#failures.failed(error, this)
      return
    }
    await this.#keep()
  }

  /** A pool's connection may lead to a server that is the ledger's no more: a finding is confirmed on a new one. */
  async #compare(query: Query): Promise<Comparison['is'] | undefined> {
    if (this.noticed.aborted) return undefined
    const seen = this.#seen
    const end = await readLedgerEnd(query, seen?.position ?? null)
    const found = compareWithSeen(end, seen, this.#isSynchronous)
    if (found.is === 'unknown') this.#seen ??= seenAt(end)
    else if (found.is !== 'here') await this.#confirming.run()
    else {
      if (found.hasMoved) await saveHome(query)
      const last = seenAt(end)
      if (last !== null && last.position > (this.#seen?.position ?? 0)) this.#seen = last
    }
    return found.is
  }

  async #confirm(): Promise<void> {
    const client = await connect(this.#database.url, 'economy ledger watch', {
      signal: AbortSignal.timeout(CONFIRM_TIMEOUT_MS),
    })
    try {
      const seen = this.#seen
      const end = await readLedgerEnd(queryOf(client), seen?.position ?? null)
      const found = compareWithSeen(end, seen, this.#isSynchronous)
      if (found.is === 'unknown' || found.is === 'here') return
      this.#noticed.abort()
      const reason = 'reason' in found ? found.reason : 'an incarnation has begun since'
      const { text, ...positions } = describeLoss(end, seen, reason)
      this.#log.error(positions, `${text}. This instance answers nothing any more and ${this.#consequence}`)
      // Otherwise this instance alone is out of date.
      if (end.lost !== null || (found.is !== 'back' && found.is !== 'unseen')) return
      await recordLoss(client, end, seen, reason).catch((err: unknown) =>
        this.#log.warn({ err }, 'lost commits could not be recorded; other instances notice them themselves'),
      )
    } finally {
      await client.end()
    }
  }

  /** Keeps what was seen for the next start; once commits were lost, as it was before. */
  async #keep(): Promise<void> {
    const seen = this.#seen
    if (seen === null || seen === this.#kept || this.noticed.aborted) return
    try {
      // Another instance with the same folder may be ahead.
      const before = await readLastSeen(this.#file)
      if (before === null || !isLater(before, seen)) await writeLastSeen(this.#file, seen)
      this.#kept = seen
      this.#fileFailures.succeeded(this)
    } catch (error) {
      this.#fileFailures.failed(error, this)
    }
  }
}

/**
 * Begins to watch the ledger, once it was compared with what was seen of it with this DATA_DIR; throws as `compareAtStart`.
 * `noticed` is aborted once commits were lost.
 */
export async function openLedgerWatch(
  database: Pick<Database, 'url' | 'subscriberPool'>,
  config: LostCommitsConfig,
  noticed: AbortController,
  log: Logger,
  stop: AbortSignal,
  cleanUp: AsyncDisposableStack,
): Promise<LedgerWatch> {
  try {
    makeFolder(config.dataDir, 0o700)
  } catch {
    // Where nothing can be kept, `keep` says so.
  }
  const seen = await compareAtStart(database.url, config, log, stop)
  const watch = new LedgerWatch(database, config, seen, noticed, log)
  cleanUp.defer(() => watch.stop())
  return watch
}
