import { type Client, escapeIdentifier } from 'pg'
import { channelName } from '../../db/ledger-url.ts'
import { connectFollower } from './single-owner.ts'

/** Each notification costs every instance work, and one suffices for all that was committed since the last. */
const MIN_INTERVAL_MS = 10
/** Wait before connecting again; doubles with each failure. */
const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 10_000

export interface CommitNotifierOptions {
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
