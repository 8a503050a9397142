import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { isAt } from '../../ledger/indexes/account-entries.ts'
import { eventsWith } from '../../ledger/indexes/index-reads.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../ledger/storage/stored-event.ts'
import { concernsUser, factsOf, mayConcernUser } from './events/concerns-user.ts'

/** Events that one statement searches when there is a filter. */
const EVENTS_PER_QUERY = 5_000
/** Events that the index names, of which one statement looks at so many. */
const POSITIONS_PER_QUERY = 1_000

export interface EventQuery {
  /** Only events after this position. */
  readonly after: number
  readonly limit: number
  readonly type: string | null
  /** Only events that this user caused, that moved this user's value or that name this user. */
  readonly user: number | null
}

/** Stored events in order. With a filter it searches up to the end of the ledger, where the index says that they may be. */
export async function readEventsAfter(
  db: Kysely<Tables>,
  { after, limit, type, user }: EventQuery,
  signal: AbortSignal,
): Promise<readonly LedgerEntry[]> {
  if (type === null && user === null) return select(db, sql<boolean>`e.position > ${after}`, limit)
  const { position: head } = await db.selectFrom('ledger_head').select('position').executeTakeFirstOrThrow()
  const isOfType = sql<boolean>`(${type}::text is null or e.type = ${type})`
  const found: LedgerEntry[] = []
  let next = after + 1
  for await (const { events, searched } of eventsWith(
    db,
    factsOf({ type, user })[0] ?? [],
    { first: next, last: head },
    'oldest',
  )) {
    const positions = [...new Set(events.map(({ position }) => position))]
    for (let i = 0; i < positions.length && found.length < limit; i += POSITIONS_PER_QUERY) {
      signal.throwIfAborted()
      const part = positions.slice(i, i + POSITIONS_PER_QUERY)
      for (const entry of await select(db, sql`${isAt(part)} and ${isOfType}`, limit - found.length)) found.push(entry)
    }
    if (found.length === limit) return found
    next = searched + 1
  }
  for (let from = next; from <= head && found.length < limit; from += EVENTS_PER_QUERY) {
    signal.throwIfAborted()
    const within = sql`e.position between ${from} and ${Math.min(head, from + EVENTS_PER_QUERY - 1)}`
    const mayBeFound = user === null ? isOfType : sql<boolean>`${isOfType} and ${mayConcernUser(user)}`
    const entries = await select(
      db,
      sql`${within} and ${mayBeFound}`,
      user === null ? limit - found.length : EVENTS_PER_QUERY,
    )
    for (const entry of entries)
      if (found.length < limit && (user === null || concernsUser(user, entry))) found.push(entry)
  }
  return found
}

async function select(db: Kysely<Tables>, which: RawBuilder<boolean>, limit: number): Promise<LedgerEntry[]> {
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e where ${which} order by e.position limit ${limit}`.execute(db)
  return rows.map(parseEntry)
}
