import type { Client } from 'pg'
import { INDEX_CURSOR } from '../../ledger/indexes/index-rows.ts'
import { indexPace, indexPiece } from '../../ledger/indexes/indexer.ts'

/** The tables of the ledger's indexes. */
export const indexTables = ['account_index', 'event_index'] as const

/**
 * New indexes of the ledger besides those that the service uses, in the schema of the other new tables, with a cursor of
 * their own. The session's search path has that schema before the ledger's.
 */
export class ShadowIndexes {
  readonly #client: Client
  readonly #pace = indexPace()

  private constructor(client: Client) {
    this.#client = client
  }

  /** After the tables were created, with their keys: `INDEX_EVENTS_SQL` then writes into these. */
  static async create(client: Client, shadow: string): Promise<ShadowIndexes> {
    await client.query(
      `create table ${shadow}.ledger_cursors (name text primary key, position bigint not null);
       insert into ${shadow}.ledger_cursors values ('${INDEX_CURSOR}', 0)`,
    )
    return new ShadowIndexes(client)
  }

  /** Indexes the events up to a position, with rests by `urgency`. */
  async catchUp(position: number, urgency: number, onPiece: () => void = () => {}): Promise<void> {
    // Read each time, as a swap that is rolled back takes it back.
    const { rows } = await this.#client.query<{ position: string }>('select position from ledger_cursors')
    for (let indexed = Number(rows[0]?.position); indexed < position; ) {
      const piece = await indexPiece(this.#client, this.#pace, { after: indexed, upTo: position, urgency })
      if (piece === null) throw new Error('the cursor of the new indexes was moved')
      indexed = piece.indexed
      onPiece()
    }
  }

  /** Rows of both tables. */
  async count(): Promise<number> {
    const { rows } = await this.#client.query<{ count: string }>(
      'select (select count(*) from account_index) + (select count(*) from event_index) as count',
    )
    return Number(rows[0]?.count)
  }

  /** In the transaction of the swap: the service's cursor says how far the new tables are. */
  async swapCursor(live: string, shadow: string): Promise<void> {
    await this.#client.query(
      `insert into ${live}.ledger_cursors select name, position from ${shadow}.ledger_cursors
       on conflict (name) do update set position = excluded.position;
       drop table ${shadow}.ledger_cursors`,
    )
  }
}
