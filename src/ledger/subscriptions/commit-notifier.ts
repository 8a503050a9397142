import { Client, type ClientConfig } from 'pg'

/** Between two hints: whoever follows reads what came meanwhile in one go, and each hint costs all instances something. */
const MIN_INTERVAL_MS = 10
/** Between two connections; each further failure doubles it. */
const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 10_000

export interface CommitNotifierOptions {
  readonly connection: ClientConfig
  /** The ledger reaches this position, somebody says. */
  readonly onPosition: (position: number) => void
  /** What was said before now was not heard. */
  readonly onListening: () => void
}

/**
 * Hints between instances that there is more on the ledger, over PostgreSQL's NOTIFY: given at once, and then not again
 * for a moment. They are no part of a commit, which would take longer by a tenth, and mostly nobody else listens. Any of
 * them may be lost.
 */
export class CommitNotifier {
  readonly #options: CommitNotifierOptions
  #client: Client | undefined
  #position = 0
  #isCoolingDown = false
  #isPending = false
  #stopped = false
  /** In a row. */
  #failures = 0
  #retry: NodeJS.Timeout | undefined

  constructor(parts: CommitNotifierOptions) {
    this.#options = parts
  }

  /** Keeps a connection of its own. */
  start(): void {
    void this.#listen()
  }

  async #listen(): Promise<void> {
    const client = new Client({ ...this.#options.connection, application_name: 'ledger tail' })
    this.#client = client
    const ended = new Promise<void>((resolve) => {
      client.on('error', () => resolve())
      client.on('end', () => resolve())
    })
    client.on('notification', ({ payload }) => this.#options.onPosition(Number(payload)))
    try {
      await client.connect()
      await client.query('listen ledger')
      this.#failures = 0
      this.#options.onListening()
      await ended
    } catch {
      // A standby refuses to listen, for as long as it is one.
    }
    this.#failures += 1
    // A connection that cannot listen is not left open.
    void client.end().catch(() => {})
    if (this.#client === client) this.#client = undefined
    if (this.#stopped) return
    this.#retry = setTimeout(() => this.start(), retryDelayMs(this.#failures, Math.random()))
    this.#retry.unref()
  }

  /** The ledger reaches this position. */
  notify(position: number): void {
    this.#position = position
    if (this.#isCoolingDown) this.#isPending = true
    else this.#send()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#retry)
    await this.#client?.end().catch(() => {})
  }

  #send(): void {
    this.#isCoolingDown = true
    this.#isPending = false
    this.#client?.query("select pg_notify('ledger', $1)", [String(this.#position)]).catch(() => {})
    setTimeout(() => {
      this.#isCoolingDown = false
      if (this.#isPending) this.#send()
    }, MIN_INTERVAL_MS).unref()
  }
}

/** Half of the wait is random, so that instances do not come back together. `random` is from 0 to 1. */
export const retryDelayMs = (failures: number, random: number): number =>
  Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(failures - 1, 10)) * (0.5 + random / 2)
