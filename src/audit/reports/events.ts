import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { account, currencies } from '../../ledger/rules/account.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../ledger/storage/stored-event.ts'

/** Events that one statement looks at when only some are wanted. */
const EVENTS_PER_QUERY = 20_000

export interface EventQuery {
  /** Events that follow this position. */
  readonly after: number
  readonly limit: number
  readonly type: string | null
  /** Events that this user caused, that moved this user's value or that name this user. */
  readonly user: number | null
}

/** Events as they are stored, in order. Those of a type or a user are looked for up to the ledger's end. */
export async function readEventsAfter(
  db: Kysely<Tables>,
  { after, limit, type, user }: EventQuery,
  signal: AbortSignal,
): Promise<readonly LedgerEntry[]> {
  if (type === null && user === null) return select(db, sql<boolean>`e.position > ${after}`, limit)
  const { position: head } = await db.selectFrom('ledger_head').select('position').executeTakeFirstOrThrow()
  const wanted = sql<boolean>`(${type}::text is null or e.type = ${type}) and ${user === null ? sql`true` : concernsUser(user)}`
  const found: LedgerEntry[] = []
  for (let from = after + 1; from <= head && found.length < limit; from += EVENTS_PER_QUERY) {
    signal.throwIfAborted()
    const within = sql<boolean>`e.position between ${from} and ${Math.min(head, from + EVENTS_PER_QUERY - 1)} and ${wanted}`
    for (const entry of await select(db, within, limit - found.length)) found.push(entry)
  }
  return found
}

async function select(db: Kysely<Tables>, which: RawBuilder<boolean>, limit: number): Promise<LedgerEntry[]> {
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e where ${which} order by e.position limit ${limit}`.execute(db)
  return rows.map(parseEntry)
}

/** Fields of events that name one user, and those that name several. */
const SINGLE_USER_FIELDS = '(user|sender|receiver|creator|winner|owner|manager|agent)_id":'
const USER_LIST_FIELDS = '(user|receiver|player|loser)_ids":\\[([0-9]+,)*'

function concernsUser(user: number): RawBuilder<boolean> {
  const accounts = currencies.map((currency) => account('user', user, currency))
  // Most events are told apart by the quick patterns; the expressions take five times as long.
  const quick = [`%:${user},%`, `%:${user}}%`, `%[${user}%`, `%,${user},%`, `%,${user}]%`]
  return sql<boolean>`(
    e.actor = ${`user:${user}`} or e.debit && ${accounts} or e.credit && ${accounts}
    or (e.data like any (${quick}) and e.data ~ ${`${SINGLE_USER_FIELDS}${user}[,}]|${USER_LIST_FIELDS}${user}[],]`}))`
}
