import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../../ledger/storage/stored-event.ts'
import { parseData } from './parse-data.ts'
import { searchEvents } from './search-events.ts'

export interface StaffActsQuery {
  /** The member of staff, as in the token; absent for all. */
  readonly sub?: string | undefined
  /** `next` of the page before. */
  readonly before?: number | undefined
  readonly limit: number
  /** The end of the ledger for this list, so that its pages do not shift. */
  readonly upTo: number
}

/** An event that a member of staff caused. */
export interface StaffAct {
  readonly sub: string
  /** As the member of staff wrote it; null where none is asked for. */
  readonly reason: string | null
  readonly entry: LedgerEntry
}

export interface StaffActsPage {
  /** Newest first. */
  readonly acts: readonly StaffAct[]
  /** `before` of the next page; null at the end. A page that was searched for long may be short before the end. */
  readonly next: number | null
}

const STAFF = 'staff:'

/** What members of staff did. */
export async function listStaffActs(db: Kysely<Tables>, query: StaffActsQuery): Promise<StaffActsPage> {
  const { sub, ...rest } = query
  const { events, next } =
    sub === undefined ? await readActs(db, query) : await searchEvents(db, { ...rest, actor: `${STAFF}${sub}` })
  return {
    acts: events.map((entry) => ({ sub: entry.actor.slice(STAFF.length), reason: reasonOf(entry.data), entry })),
    next,
  }
}

async function readActs(db: Kysely<Tables>, { before, limit, upTo }: StaffActsQuery) {
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e
    where e.actor like 'staff:%' and e.position <= ${before === undefined ? upTo : Math.min(upTo, before - 1)}
    order by e.position desc limit ${limit + 1}`.execute(db)
  const events = rows.slice(0, limit).map(parseEntry)
  return { events, next: rows.length > limit ? (events.at(-1)?.position ?? null) : null }
}

function reasonOf(data: string): string | null {
  const fields = parseData(data)
  return fields !== null && 'reason' in fields && typeof fields.reason === 'string' ? fields.reason : null
}
