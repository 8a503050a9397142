import { Client, type ClientConfig } from 'pg'

/** Between two hints: whoever follows reads what came meanwhile in one go, and each hint costs all instances something. */
const APART_MS = 10
const RETRY_MS = 200

export interface HintsParts {
  readonly connection: ClientConfig
  /** The ledger reaches this position, somebody says. */
  readonly heard: (position: number) => void
  /** What was said before now was not heard. */
  readonly listening: () => void
}

/**
 * Hints between instances that there is more on the ledger, over PostgreSQL's NOTIFY: given at once, and then not again
 * for a moment. They are no part of a commit, which would take longer by a tenth, and mostly nobody else listens. Any of
 * them may be lost.
 */
export class Hints {
  readonly #parts: HintsParts
  #client: Client | undefined
  #position = 0
  #resting = false
  #owed = false
  #stopped = false

  constructor(parts: HintsParts) {
    this.#parts = parts
  }

  /** Keeps a connection of its own. */
  start(): void {
    if (this.#stopped) return
    const client = new Client({ ...this.#parts.connection, application_name: 'ledger tail' })
    this.#client = client
    const again = (): void => {
      if (this.#client !== client) return
      this.#client = undefined
      setTimeout(() => this.start(), RETRY_MS).unref()
    }
    client.on('error', again)
    client.on('end', again)
    client.on('notification', ({ payload }) => this.#parts.heard(Number(payload)))
    client
      .connect()
      .then(() => client.query('listen ledger'))
      .then(() => this.#parts.listening())
      .catch(again)
  }

  /** The ledger reaches this position. */
  give(position: number): void {
    this.#position = position
    if (this.#resting) this.#owed = true
    else this.#tell()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#client?.end().catch(() => {})
  }

  #tell(): void {
    this.#resting = true
    this.#owed = false
    this.#client?.query("select pg_notify('ledger', $1)", [String(this.#position)]).catch(() => {})
    setTimeout(() => {
      this.#resting = false
      if (this.#owed) this.#tell()
    }, APART_MS).unref()
  }
}
