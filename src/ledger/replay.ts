import type { Client } from 'pg'
import Cursor from 'pg-cursor'
import { connect } from '../db/connect.ts'
import type { Head } from './batch.ts'
import type { PlacedEvent } from './decider.ts'
import type { Evolve } from './evolve.ts'
import { eventColumns } from './recorded.ts'
import type { TextRow } from './row-table.ts'
import { Rows } from './state.ts'

/** Rows of a page: one is worked on while the next one comes. */
const PAGE = 2_000

const asText = { getTypeParser: () => (text: string) => text }

/**
 * The ledger and its tables as they stood at one moment. Reads in one read-only transaction, so that what is
 * compared belongs together while the service goes on writing. One reading at a time.
 */
export class Snapshot {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  /** Throws when the database cannot be reached. */
  static async open(url: string): Promise<Snapshot> {
    const client = await connect(url, 'ledger replay')
    // A long ledger is read for longer than a role's time limits may allow.
    await client.query(`begin isolation level repeatable read read only;
      set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`)
    return new Snapshot(client)
  }

  async head(): Promise<Head> {
    const { rows } = await this.#client.query<TextRow>({
      text: 'select position, hash, (extract(epoch from at) * 1000000)::bigint as at from ledger_head',
      types: asText,
    })
    const head = rows[0]
    if (head === undefined) throw new Error('the ledger has no head')
    return { position: Number(head['position']), hash: String(head['hash']), at: Number(head['at']) }
  }

  /** The rows of all events up to a position (null: all) in order, for `parseEntry`. */
  events(upTo: number | null): AsyncGenerator<readonly TextRow[], void> {
    return this.pages(
      `select ${eventColumns} from ledger_events e
       where e.position <= $1 order by e.position`,
      [upTo ?? Number.MAX_SAFE_INTEGER],
    )
  }

  /** The rows of any query, every value as text. */
  async *pages(text: string, values: readonly unknown[] = []): AsyncGenerator<readonly TextRow[], void> {
    const cursor = this.#client.query(new Cursor<TextRow>(text, [...values], { types: asText }))
    let reading = cursor.read(PAGE)
    for (;;) {
      const page = await reading
      if (page.length === 0) return
      // The database goes on while this page is worked on; should it fail, the next turn hears of it.
      reading = cursor.read(PAGE)
      reading.catch(() => {})
      let stopped = true
      try {
        yield page
        stopped = false
      } finally {
        // The connection serves nothing else until the cursor is closed.
        if (stopped) await cursor.close()
      }
    }
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}

/** Folds events, from the first one on, into all the rows that follow from them. */
export class Replay {
  readonly rows = new Rows({ whole: true })
  readonly #evolve: Evolve

  constructor(evolve: Evolve) {
    this.#evolve = evolve
  }

  /** Throws what the rules have against the event; then nothing of it is in the rows. */
  fold(event: PlacedEvent): void {
    try {
      this.#evolve(this.rows, event)
    } catch (error) {
      this.rows.rollback()
      throw error
    }
    // What could be taken back does not grow with the ledger.
    this.rows.checkpoint()
  }
}
