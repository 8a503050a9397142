import { type Client, escapeIdentifier } from 'pg'
import { connect } from '../../db/connect.ts'
import { channelName, lockName } from '../../db/ledger-url.ts'
import type { FailureLog } from '../../db/log.ts'
import { isSessionTerminated } from '../../db/postgres-errors.ts'

interface OwnerOptions {
  /** The ledger's connection string. */
  readonly url: string
  readonly isStopped: () => boolean
  /** Waits before the next attempt. */
  readonly pause: () => Promise<void>
  readonly failureLog: Pick<FailureLog, 'failed' | 'succeeded'>
  /** By which the log knows the owner. */
  readonly source: unknown
}

/**
 * A connection of a follower of the ledger. What it stores may be lost in a crash, as it is then done again; so it must not
 * make the commands wait for its flush to disk.
 */
export const connectFollower = (url: string, name: string): Promise<Client> =>
  connect(url, name, { pipeline: true, query_timeout: 11_000, settings: 'set synchronous_commit = off' })

/**
 * What the owner does, on the session that owns its lock; it says when it `succeeded`. It returns once it must stop, or the
 * session is broken.
 */
type OwnerWork = (client: Client, isBroken: () => boolean, succeeded: () => void) => Promise<void>

/**
 * Runs `work` on one instance at a time, until `isStopped`; another takes over when that one stops or dies. The session
 * of `work` owns an advisory lock, so that nobody who lost the lock can still write through it.
 */
export async function runOnOneInstance(name: string, options: OwnerOptions, work: OwnerWork): Promise<void> {
  const { url, isStopped, pause, failureLog, source } = options
  /** Whether a session was ended since the last success. */
  let wasEnded = false
  const succeeded = (): void => {
    wasEnded = false
    failureLog.succeeded(source)
  }
  while (!isStopped()) {
    let client: Client | undefined
    let isBroken = false
    try {
      // A connection of its own: the advisory lock lives and dies with it.
      client = await connectFollower(url, `follower ${name}`)
      client.on('error', () => {
        isBroken = true
      })
      while (!isStopped() && !isBroken) {
        const lock = await client.query<{ mine: boolean }>(
          // A standby would give the lock, too, and refuse all that follows.
          `select case when pg_is_in_recovery() then false
                  else pg_try_advisory_lock(hashtextextended($1, 0)) end as mine`,
          // Instances of other versions take the same lock: its name must stay.
          [lockName(url, `ledger follower ${name}`)],
        )
        if (lock.rows[0]?.mine === true) await work(client, () => isBroken, succeeded)
        else {
          succeeded()
          await pause()
        }
      }
    } catch (error) {
      // A lost connection is replaced, and reported only when that fails. A running statement may learn that its
      // session was ended before the connection does; but if that happens each time, it is a failure.
      if (!isBroken) {
        if (isSessionTerminated(error) && !wasEnded) wasEnded = true
        else failureLog.failed(error, source)
      }
    } finally {
      await client?.end().catch(() => {})
    }
    await pause()
  }
}

/** Each notification costs every instance work, and one suffices for all that was committed since the last. */
const MIN_INTERVAL_MS = 10
/** Wait before connecting again; doubles with each failure. */
const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 10_000

interface CommitNotifierOptions {
  /** The ledger's connection string. */
  readonly url: string
  /** An instance has notified that the ledger reaches this position. */
  readonly onPosition: (position: number) => void
  /** It listens now; earlier notifications were missed. */
  readonly onListening: () => void
}

/**
 * Notifies other instances that the ledger has grown, by PostgreSQL's NOTIFY: at once, then not again for a moment. Not
 * part of the commit, which would take a tenth longer. Any notification may be lost.
 */
export class CommitNotifier {
  readonly #options: CommitNotifierOptions
  readonly #channel: string
  #client: Client | undefined
  #position = 0
  #isCoolingDown = false
  #isPending = false
  #isStopped = false
  /** In a row. */
  #failures = 0
  #retry: NodeJS.Timeout | undefined

  constructor(options: CommitNotifierOptions) {
    this.#options = options
    this.#channel = channelName(options.url, 'ledger')
  }

  /** Listens on a connection of its own and keeps it open. */
  start(): void {
    void this.#listen()
  }

  async #listen(): Promise<void> {
    let client: Client | undefined
    try {
      client = await connectFollower(this.#options.url, 'ledger tail')
      const ended = new Promise<void>((resolve) => client?.once('end', resolve))
      client.on('notification', ({ payload }) => this.#options.onPosition(Number(payload)))
      this.#client = client
      await client.query(`listen ${escapeIdentifier(this.#channel)}`)
      this.#failures = 0
      this.#options.onListening()
      if (!this.#isStopped) await ended
    } catch {
      // A standby refuses LISTEN until it is promoted.
    }
    this.#failures += 1
    // A connection that cannot listen must not stay open.
    void client?.end().catch(() => {})
    this.#client = undefined
    if (this.#isStopped) return
    this.#retry = setTimeout(() => this.start(), retryDelayMs(this.#failures, Math.random()))
    this.#retry.unref()
  }

  /** Notifies the others that the ledger reaches this position. */
  notify(position: number): void {
    this.#position = position
    if (this.#isCoolingDown) this.#isPending = true
    else this.#send()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retry)
    await this.#client?.end().catch(() => {})
  }

  #send(): void {
    this.#isCoolingDown = true
    this.#isPending = false
    this.#client?.query('select pg_notify($1, $2)', [this.#channel, String(this.#position)]).catch(() => {})
    setTimeout(() => {
      this.#isCoolingDown = false
      if (this.#isPending) this.#send()
    }, MIN_INTERVAL_MS).unref()
  }
}

/** Half of the delay is random, so that instances do not reconnect at once. `random` is from 0 to 1. */
export const retryDelayMs = (failures: number, random: number): number =>
  Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(failures - 1, 10)) * (0.5 + random / 2)
