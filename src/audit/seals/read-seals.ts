import type { EventData } from '../../../schema/events.ts'
import { UnreadableEvent } from '../../ledger/rules/event.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../ledger/storage/stored-event.ts'

/** Runs a query that answers few rows. */
export type Query = (text: string, values: readonly unknown[]) => Promise<readonly TextRow[]>

/** What an event of a seal says, and its position. */
export type Sealed = EventData<'ledger-sealed'> & { readonly seal_id: number }

/** The seals up to `upTo` whose events come by `last`, the newest first. */
export async function readSeals(query: Query, upTo: number, last: number): Promise<readonly Sealed[]> {
  const text = 'select seal_id::text from seals where position <= $1 and seal_id <= $2 order by position desc'
  const seals: Sealed[] = []
  for (const { seal_id } of await query(text, [upTo, last])) seals.push(...(await readSeal(query, Number(seal_id))))
  return seals
}

/** None where the event is another one or cannot be read, which a replay from an earlier position finds. */
async function readSeal(query: Query, seal_id: number): Promise<readonly Sealed[]> {
  const entry = await entryAt(query, seal_id)
  const event = entry && whereReadable(() => parseStoredEvent(entry))
  return event?.type === 'ledger-sealed' ? [{ ...event.data, seal_id }] : []
}

/** The event at a position; undefined when there is none that can be read. */
export async function entryAt(query: Query, position: number): Promise<LedgerEntry | undefined> {
  const [row] = await query(`select ${eventColumns} from ledger_events e where e.position = $1`, [position])
  return row && whereReadable(() => parseEntry(row))
}

function whereReadable<Event>(read: () => Event): Event | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableEvent) return undefined
    throw error
  }
}
