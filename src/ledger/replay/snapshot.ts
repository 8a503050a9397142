import type { Client } from 'pg'
import Cursor from 'pg-cursor'
import { connect } from '../../db/connect.ts'
import type { Page } from '../../db/copy-out.ts'
import { microsOf } from '../../db/micros-of.ts'
import { binaryColumns } from '../storage/binary-rows/event-row-reader.ts'
import { copyBinaryRows, copyRows, type Fields } from '../storage/copy-rows.ts'
import type { Head } from '../storage/head.ts'
import type { TextRow } from '../storage/row-table.ts'

/** One page is processed while the next arrives. */
const PAGE_ROWS = 2_000

const asText = { getTypeParser: () => (text: string) => text }

/**
 * A read-only view of the ledger and its tables as of one moment: everything is read in one transaction, so that what is
 * compared belongs together while the service keeps writing. One read at a time.
 */
export class Snapshot {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  /** A snapshot as of now. Throws when the database cannot be reached. */
  static async open(url: string): Promise<Snapshot> {
    const snapshot = await Snapshot.connect(url)
    await snapshot.freeze()
    return snapshot
  }

  /**
   * A snapshot as of when `freeze` is called; until then each read sees what is committed. Frozen for long, it keeps
   * the database from vacuuming rows that the service replaces.
   */
  static async connect(url: string): Promise<Snapshot> {
    const client = await connect(url, 'ledger replay')
    // Reading a long ledger may take longer than a role's timeouts allow.
    await client.query(`set default_transaction_read_only = on; set statement_timeout = 0;
      set idle_in_transaction_session_timeout = 0; set datestyle = 'ISO';
      -- A reader may pause for longer than a session may otherwise be unable to send.
      set tcp_user_timeout = 0;
      -- No parallel workers: they would take processors from those who serve users.
      set max_parallel_workers_per_gather = 0;
      -- Compiling takes longer than the statements that it is for, whose costs are estimated far too high.
      set jit = off`)
    return new Snapshot(client)
  }

  async freeze(): Promise<void> {
    await this.#client.query('begin isolation level repeatable read read only')
  }

  async head(): Promise<Head> {
    const { rows } = await this.#client.query<TextRow>({
      text: `select position, hash, ${microsOf('at')} as at from ledger_head`,
      types: asText,
    })
    const head = rows[0]
    if (head === undefined) throw new Error('the ledger has no head')
    // A tampered head may hold any number; there are no events beyond what is exact.
    const position = Math.min(Number(head['position']), Number.MAX_SAFE_INTEGER)
    return { position, hash: String(head['hash']), at: Number(head['at']) }
  }

  /** The hashes of the events at these positions; those of others are left out. */
  async hashesAt(positions: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const { rows } = await this.#client.query<TextRow>({
      text: 'select position, hash from ledger_events where position = any($1)',
      values: [positions],
      types: asText,
    })
    return new Map(rows.map((row) => [Number(row['position']), String(row['hash'])]))
  }

  /**
   * The rows of the events at these positions, in order, for `EventRowReader`. Without `upTo` all that come after
   * `from`; with `from` 1 also any before it.
   */
  events(from: number, upTo: number | null): AsyncGenerator<Page, void> {
    // A tampered ledger may have events before position 1: they belong to the first page.
    const bounds = [...(from > 1 ? [`e.position >= ${from}`] : []), ...(upTo === null ? [] : [`e.position <= ${upTo}`])]
    const where = bounds.length === 0 ? '' : `where ${bounds.join(' and ')}`
    return copyBinaryRows(this.#client, `select ${binaryColumns} from ledger_events e ${where} order by e.position`)
  }

  /** The position of the first event after `position`; null when there is none. */
  async firstAfter(position: number): Promise<number | null> {
    const text = 'select min(position) as position from ledger_events where position > $1'
    const { rows } = await this.#client.query<TextRow>({ text, values: [position], types: asText })
    const first = rows[0]?.['position'] ?? null
    return first === null ? null : Number(first)
  }

  /** The rows of a query without parameters. */
  rows(query: string): AsyncGenerator<readonly Fields[], void> {
    return copyRows(this.#client, query)
  }

  /** As `rows`, in PostgreSQL's binary format. */
  binaryRows(query: string): AsyncGenerator<Page, void> {
    return copyBinaryRows(this.#client, query)
  }

  /** The rows of any query, every value as text. */
  async *pages(text: string, values: readonly unknown[] = []): AsyncGenerator<readonly TextRow[], void> {
    const cursor = this.#client.query(new Cursor<TextRow>(text, [...values], { types: asText }))
    let reading = cursor.read(PAGE_ROWS)
    for (;;) {
      const page = await reading
      if (page.length === 0) return
      // Read ahead while this page is processed; an error surfaces when the page is awaited.
      reading = cursor.read(PAGE_ROWS)
      reading.catch(() => {})
      let stopped = true
      try {
        yield page
        stopped = false
      } finally {
        // The connection cannot be used until the cursor is closed.
        if (stopped) await cursor.close()
      }
    }
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
