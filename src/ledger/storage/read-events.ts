import type { Pool } from 'pg'
import type { StoredEvent } from './event-hash.ts'
import type { TextRow } from './row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from './stored-event.ts'

const asText = { getTypeParser: () => (text: string) => text }

/** At most `limit` events after a position, in order. */
export async function eventsAfter(pool: Pool, after: number, limit: number): Promise<readonly StoredEvent[]> {
  const { rows } = await pool.query<TextRow>({
    name: 'events after',
    text: `select ${eventColumns} from ledger_events e where e.position > $1 order by e.position limit $2`,
    values: [after, limit],
    types: asText,
  })
  return rows.map((row) => parseStoredEvent(parseEntry(row)))
}

/** The events at these positions, in order. */
export async function eventsAt(pool: Pool, positions: readonly number[]): Promise<readonly StoredEvent[]> {
  if (positions.length === 0) return []
  const { rows } = await pool.query<TextRow>({
    name: 'events at',
    text: `select ${eventColumns} from ledger_events e where e.position = any ($1::bigint[]) order by e.position`,
    values: [positions],
    types: asText,
  })
  return rows.map((row) => parseStoredEvent(parseEntry(row)))
}
