import type { Kysely } from 'kysely'
import { type EventFilter, searchEvents } from '../../audit/reports/events/search-events.ts'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'

/** Positions that are looked at together, and how often at most until something is found. */
const WINDOW = 200
const MAX_WINDOWS = 20

export interface NewerEvents {
  /** Newest first: all events of the filter after the position asked for, up to `position`. */
  readonly events: readonly LedgerEntry[]
  /** Where to go on. */
  readonly position: number
  /** The end of the ledger. */
  readonly head: number
}

/**
 * Events after a position, without a hole: whoever goes on at `position` sees each event once. Its work is limited, so
 * it may end before the end of the ledger, with or without an event found.
 */
export async function readNewerEvents(db: Kysely<Tables>, filter: EventFilter, after: number): Promise<NewerEvents> {
  const head = await headOf(db)
  // A position beyond the end would be reached by events that nobody is shown.
  let position = Math.min(after, head)
  for (let windows = 0; windows < MAX_WINDOWS && position < head; windows += 1) {
    const last = Math.min(head, position + WINDOW)
    const search = { ...filter, first: position + 1, last, upTo: head, limit: WINDOW }
    const { events } = await searchEvents(db, search)
    position = last
    if (events.length > 0) return { events, position, head }
  }
  return { events: [], position, head }
}
