import type { Client } from 'pg'
import { connect } from '../../db/connect.ts'
import { microsOf } from '../../db/queries/expressions.ts'
import { copyBinaryRows, copyLines, copyRows, type Fields, type Page } from '../storage/copy-rows.ts'
import type { Head } from '../storage/event-hash.ts'
import { binaryColumns } from '../storage/event-row-reader.ts'
import { asText, type TextRow } from '../storage/row-table.ts'

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
  static async open(url: string, signal?: AbortSignal): Promise<Snapshot> {
    const snapshot = await Snapshot.connect(url, signal)
    await snapshot.freeze()
    return snapshot
  }

  /**
   * A snapshot as of when `freeze` is called; until then each read sees what is committed. Frozen for long, it keeps
   * the database from vacuuming rows that the service replaces. When `signal` is aborted, a read that waits for the
   * database fails.
   */
  static async connect(url: string, signal?: AbortSignal): Promise<Snapshot> {
    const client = await connect(url, 'ledger replay', signal && { signal })
    await client.query(`set default_transaction_read_only = on;
      -- A reader may pause for longer than a session may otherwise be unable to send.
      set tcp_user_timeout = 0;
      -- No parallel workers: they would take processors from those who serve users.
      set max_parallel_workers_per_gather = 0`)
    return new Snapshot(client)
  }

  async freeze(): Promise<void> {
    await this.#client.query('begin isolation level repeatable read read only')
  }

  async head(): Promise<Head> {
    const [head] = await this.query(`select position, hash, ${microsOf('at')} as at from ledger_head`)
    if (head === undefined) throw new Error('the ledger has no head')
    // A tampered head may have any number; there are no events beyond what is exact.
    const position = Math.min(Number(head['position']), Number.MAX_SAFE_INTEGER)
    return { position, hash: String(head['hash']), at: Number(head['at']) }
  }

  /** The hashes of the events at these positions; those of others are left out. */
  async hashesAt(positions: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const rows = await this.query('select position, hash from ledger where position = any($1)', [positions])
    return new Map(rows.map((row) => [Number(row['position']), String(row['hash'])]))
  }

  /**
   * The rows of the events at these positions, in order, for `EventRowReader`. Without `upTo` all that come after
   * `from`; with `from` 1 also any before it. With a condition on `e` only those that meet it.
   */
  events(from: number, upTo: number | null, condition = 'true'): AsyncGenerator<Page, void> {
    // A tampered ledger may have events before position 1: they belong to the first page.
    const bounds = [...(from > 1 ? [`e.position >= ${from}`] : []), ...(upTo === null ? [] : [`e.position <= ${upTo}`])]
    const where = [condition, ...bounds].join(' and ')
    return copyBinaryRows(
      this.#client,
      `select ${binaryColumns} from ledger_events e where ${where} order by e.position`,
    )
  }

  /** The position of the first event after `position`; null when there is none. */
  async firstAfter(position: number): Promise<number | null> {
    const text = 'select min(position) as position from ledger_events where position > $1'
    const [row] = await this.query(text, [position])
    const first = row?.['position'] ?? null
    return first === null ? null : Number(first)
  }

  /** The rows of a query without parameters. */
  rows(query: string): AsyncGenerator<readonly Fields[], void> {
    return copyRows(this.#client, query)
  }

  /** As `rows`, a line for each row. */
  lines(query: string): AsyncGenerator<readonly string[], void> {
    return copyLines(this.#client, query)
  }

  /** As `rows`, in PostgreSQL's binary format. */
  binaryRows(query: string): AsyncGenerator<Page, void> {
    return copyBinaryRows(this.#client, query)
  }

  /** The rows of a query that answers few, every value as text. */
  readonly query = async (text: string, values: readonly unknown[] = []): Promise<readonly TextRow[]> => {
    const { rows } = await this.#client.query<TextRow>({ text, values: [...values], types: asText })
    return rows
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
