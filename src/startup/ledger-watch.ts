import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import type { Logger } from 'pino'
import { withExecutor } from '../audit/with-executor.ts'
import type { Config } from '../config/config.ts'
import { newIncarnation } from '../config/keys.ts'
import { makeFolder } from '../config/make-folder.ts'
import { connect } from '../db/connect.ts'
import { FailureLog } from '../db/failure-log.ts'
import { type LastSeen, lastSeenFile, readLastSeen, writeLastSeen } from '../db/last-seen.ts'
import { SingleFlight } from '../db/single-flight.ts'
import { DatabaseIsStandby, LedgerWentBack, Unavailable } from '../ledger/executor/failures.ts'
import type { AssertLedger } from '../ledger/executor/store.ts'
import { hashEvent, type StoredEvent } from '../ledger/storage/event-hash.ts'
import {
  type Comparison,
  compareWithSeen,
  type LedgerEnd,
  type LostCommits,
  type Query,
  readLedgerEnd,
  recordLostCommits,
  saveHome,
} from '../ledger/storage/lost-commits.ts'
import { recordRestore } from '../ledger/storage/record-restore.ts'
import type { Tail } from '../ledger/subscriptions/tail.ts'
import type { Database } from './database.ts'
import { runAsSystem } from './system.ts'

const CHECK_INTERVAL_MS = 1_000
/** For all that is asked on one connection: the executor and the end of the process wait for it. */
const CONFIRM_TIMEOUT_MS = 5_000
/** How long a start waits for another instance to say that the ledger's new database is right. */
const OTHERS_TIMEOUT_MS = 10_000
const OTHERS_INTERVAL_MS = 250
const NAME = 'economy ledger watch'
/** Why nothing can be recorded: this instance alone is out of date. */
const OTHERWISE = { another: 'its first event is another one', restored: 'an incarnation has begun since' } as const

type WatchConfig = Pick<Config, 'dataDir' | 'ledgerSchema' | 'databaseSynchronous' | 'onLostCommits'>

/**
 * Compares the ledger with what this instance has seen of it: whenever the executor connects, and every second. Seen is what
 * was committed: read from the database, or answered here.
 *
 * Once commits were lost, `noticed` is aborted, and everything that this process holds in memory is void.
 */
export class LedgerWatch {
  readonly #database: Pick<Database, 'url' | 'subscriberPool'>
  readonly #isSynchronous: boolean
  readonly #consequence: string
  readonly #file: string
  readonly #log: Logger
  readonly #failures: FailureLog
  readonly #fileFailures: FailureLog
  readonly #noticed = new AbortController()
  readonly #confirming = new SingleFlight(() => this.#confirm())
  readonly #checking = new SingleFlight(() => this.#check())
  /** Null: the ledger was empty. */
  #seen: LastSeen | null
  #kept: LastSeen | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(
    database: Pick<Database, 'url' | 'subscriberPool'>,
    config: WatchConfig,
    seen: LastSeen | null,
    log: Logger,
  ) {
    this.#database = database
    this.#isSynchronous = config.databaseSynchronous
    this.#consequence = config.onLostCommits === 'stop' ? 'ends' : 'starts again'
    this.#file = lastSeenFile(config.dataDir, config.ledgerSchema)
    this.#seen = seen
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
  committed(events: readonly StoredEvent[]): void {
    this.#see(events.at(-1))
  }

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
      await this.#compare((statement) => this.#database.subscriberPool.query<object>({ ...statement }))
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
    const client = await connect(this.#database.url, NAME, { signal: AbortSignal.timeout(CONFIRM_TIMEOUT_MS) })
    try {
      const seen = this.#seen
      const end = await readLedgerEnd(queryOf(client), seen?.position ?? null)
      const found = compareWithSeen(end, seen, this.#isSynchronous)
      if (found.is === 'unknown' || found.is === 'here') return
      this.#noticed.abort()
      const reason = 'reason' in found ? found.reason : OTHERWISE[found.is]
      const { text, ...positions } = describeLoss(end, seen, reason)
      this.#log.error(positions, `${text}. This instance answers nothing any more and ${this.#consequence}`)
      if (end.lost !== null || !('reason' in found)) return
      await record(client, end, seen, found.reason).catch((err: unknown) =>
        this.#log.warn({ err }, 'that commits were lost could not be recorded; other instances notice it themselves'),
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
      if (!isLater(await readLastSeen(this.#file), seen)) {
        await writeLastSeen(this.#file, seen)
      }
      this.#kept = seen
      this.#fileFailures.succeeded(this)
    } catch (error) {
      this.#fileFailures.failed(error, this)
    }
  }
}

/**
 * Compares the ledger with what an instance with this DATA_DIR has seen last, and begins an incarnation where commits were
 * lost and ON_LOST_COMMITS says `recover`. Throws an Error that says what to do where they were, or may have been.
 */
export async function openLedgerWatch(
  database: Pick<Database, 'url' | 'subscriberPool'>,
  config: WatchConfig,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): Promise<LedgerWatch> {
  try {
    makeFolder(config.dataDir, 0o700)
  } catch {
    // Where nothing can be kept, `keep` says so.
  }
  const client = await connect(database.url, NAME)
  try {
    const before = await readLastSeen(lastSeenFile(config.dataDir, config.ledgerSchema))
    const watch = new LedgerWatch(database, config, await seenAtStart(database.url, client, before, config, log), log)
    cleanUp.defer(() => watch.stop())
    return watch
  } finally {
    await client.end()
  }
}

async function seenAtStart(
  url: string,
  client: ClientBase,
  before: LastSeen | null,
  config: WatchConfig,
  log: Logger,
): Promise<LastSeen | null> {
  const query = queryOf(client)
  const othersUntil = performance.now() + OTHERS_TIMEOUT_MS
  for (;;) {
    const end = await readLedgerEnd(query, before?.position ?? null)
    const seen = before?.ledger === end.ledger ? before : null
    const found = compareWithSeen(end, seen, config.databaseSynchronous)
    switch (found.is) {
      case 'unknown':
        return seen ?? seenAt(end)
      case 'here':
        if (found.hasMoved) await saveHome(query)
        return seenAt(end)
      case 'another':
      case 'restored':
        return seenAt(end)
      case 'unseen':
        if (performance.now() < othersUntil && (await isAnotherAlive(client))) {
          await sleep(OTHERS_INTERVAL_MS)
          continue
        }
    }
    const { reason } = found
    const { text } = describeLoss(end, seen, reason)
    if (config.onLostCommits === 'stop') {
      // Where nothing was seen here, other instances may know that nothing is missing.
      if (found.is === 'back' && end.lost === null) await record(client, end, seen, reason)
      throw new Error(`${text}. Stop all instances and run npm run after-restore: only then can the service start.`)
    }
    const { incarnation, position, hash } = end.lost ?? (await record(client, end, seen, reason))
    const last_known = position === null || hash === null ? null : { position, hash }
    await withExecutor(url, (executor) => runAsSystem(executor, recordRestore, { incarnation, reason, last_known }))
    log.warn({ incarnation }, `${text}; a new incarnation has begun`)
  }
}

/** Whether another instance has said a moment ago that it is there. */
async function isAnotherAlive(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query(`select from instances where seen_at > now() - interval '30 seconds' limit 1`)
  return rows.length > 0
}

async function record(client: ClientBase, end: LedgerEnd, seen: LastSeen | null, reason: string): Promise<LostCommits> {
  if (end.incarnation === null) throw new Error('the ledger is empty')
  const next = newIncarnation()
  return await recordLostCommits(client, { incarnation: end.incarnation, next, reason, last_known: seen })
}

const queryOf =
  (client: ClientBase): Query =>
  (statement) =>
    client.query<object>({ ...statement })

/** The end of the ledger as something seen; null when the ledger is empty. */
const seenAt = ({ ledger, incarnation, began_at, position, hash }: LedgerEnd): LastSeen | null =>
  ledger === null || incarnation === null || began_at === null
    ? null
    : { ledger, incarnation, began_at, position, hash }

const isLater = (one: LastSeen | null, other: LastSeen): boolean =>
  one?.ledger === other.ledger &&
  (one.incarnation === other.incarnation ? one.position > other.position : one.began_at > other.began_at)

/** From where to where the ledger went back, as far as that is known. */
function describeLoss(
  { lost, position, hash_there }: LedgerEnd,
  seen: LastSeen | null,
  reason: string,
): { readonly text: string; readonly from: number | null; readonly to: number } {
  const from = lost?.position ?? seen?.position ?? null
  const to = lost?.ended_at ?? position
  const path =
    from !== null && to < from
      ? `went back from position ${from} to ${to}`
      : lost === null && seen !== null && seen.hash !== hash_there
        ? `went back from position ${from} to one before it`
        : `may have gone back to position ${to}`
  return { text: `The ledger ${path}: ${reason}`, from, to }
}
