import type { Client } from 'pg'
import { Pace } from '../../db/pace.ts'
import { BLOCK_EVENTS, IndexWriter, type PlacedEvent } from '../../ledger/indexes/index-writer.ts'
import { asText, type TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../ledger/storage/stored-event.ts'
import { parseData } from '../reports/events/parse-data.ts'

/** The tables of the ledger's index. */
export const indexTables = ['ledger_index', 'ledger_index_segments'] as const

/**
 * A new index of the ledger besides the one that the service uses, in the schema of the other new tables, with a cursor of
 * its own. The session's search path has that schema before the ledger's.
 */
export class ShadowIndexes {
  readonly #client: Client
  readonly #pace = new Pace({ min: BLOCK_EVENTS, max: BLOCK_EVENTS })

  private constructor(client: Client) {
    this.#client = client
  }

  /** After the tables were created, with their keys: `IndexWriter` then writes into these. */
  static async create(client: Client, shadow: string): Promise<ShadowIndexes> {
    await client.query(`create table ${shadow}.ledger_cursors (name text primary key, position bigint not null)`)
    return new ShadowIndexes(client)
  }

  /**
   * Indexes the whole blocks up to a position, with rests by `urgency`. Where it is urgent their segments are not merged:
   * the service does that.
   */
  async catchUp(position: number, urgency: number, onPiece: () => void = () => {}): Promise<void> {
    // Each time from the tables, as a swap that is rolled back takes them back.
    const writer = await IndexWriter.open(this.#client)
    const isTidied = urgency < 1
    while (writer.indexed + BLOCK_EVENTS <= position) {
      this.#pace.start()
      await writer.addBlock(await this.#blockAfter(writer.indexed))
      if (isTidied) await writer.tidy()
      this.#pace.look(position)
      await this.#pace.afterPiece(BLOCK_EVENTS, urgency)
      onPiece()
    }
    while (isTidied && !writer.isTidy) await writer.tidy()
  }

  /** Also events that this version cannot read, where that was acknowledged. */
  async #blockAfter(position: number): Promise<readonly PlacedEvent[]> {
    const { rows } = await this.#client.query<TextRow>({
      text: `select ${eventColumns} from ledger_events e where e.position > $1 order by e.position limit ${BLOCK_EVENTS}`,
      values: [position],
      types: asText,
    })
    return rows.map(parseEntry).map((entry) => ({ ...entry, data: parseData(entry.data) ?? {}, entry }))
  }

  /** The pages of the index. */
  async count(): Promise<number> {
    const { rows } = await this.#client.query<{ count: string }>('select count(*) from ledger_index')
    return Number(rows[0]?.count)
  }

  /** In the transaction of the swap: the service's cursor says how far the new index is. */
  async swapCursor(live: string, shadow: string): Promise<void> {
    await this.#client.query(
      `insert into ${live}.ledger_cursors select name, position from ${shadow}.ledger_cursors
       on conflict (name) do update set position = excluded.position;
       drop table ${shadow}.ledger_cursors`,
    )
  }
}
