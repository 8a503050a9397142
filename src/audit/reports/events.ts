import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { blocksWith, isInBlocks, type Term } from '../../ledger/indexes/blocks-with.ts'
import { account, currencies } from '../../ledger/rules/account.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../ledger/storage/stored-event.ts'

/** Events that one statement searches when there is a filter. */
const EVENTS_PER_QUERY = 20_000

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
  const matchesFilter = sql<boolean>`(${type}::text is null or e.type = ${type}) and ${user === null ? sql`true` : concernsUser(user)}`
  const terms: Term[] = [
    ...(type === null ? [] : [{ kind: 'type', value: type } as const]),
    ...(user === null ? [] : [{ kind: 'user', value: String(user) } as const]),
  ]
  const found: LedgerEntry[] = []
  let next = after + 1
  for await (const { bases, upTo } of blocksWith(db, terms, next)) {
    signal.throwIfAborted()
    const within = sql<boolean>`${isInBlocks(bases)} and e.position >= ${next} and ${matchesFilter}`
    for (const entry of await select(db, within, limit - found.length)) found.push(entry)
    if (found.length === limit) return found
    next = Math.max(next, upTo + 1)
  }
  for (let from = next; from <= head && found.length < limit; from += EVENTS_PER_QUERY) {
    signal.throwIfAborted()
    const within = sql<boolean>`e.position between ${from} and ${Math.min(head, from + EVENTS_PER_QUERY - 1)} and ${matchesFilter}`
    for (const entry of await select(db, within, limit - found.length)) found.push(entry)
  }
  return found
}

async function select(db: Kysely<Tables>, which: RawBuilder<boolean>, limit: number): Promise<LedgerEntry[]> {
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e where ${which} order by e.position limit ${limit}`.execute(db)
  return rows.map(parseEntry)
}

/** Fields of event data with one user's id, and with a list of ids. */
const SINGLE_USER_FIELDS = '(user|sender|receiver|creator|winner|owner|target|beneficiary)_id":'
const USER_LIST_FIELDS = '(user|receiver|player|loser)_ids":\\[([0-9]+,)*'

function concernsUser(user: number): RawBuilder<boolean> {
  const accounts = currencies.map((currency) => account('user', user, currency))
  // `like` rules out most events and takes a fifth of the time of the regular expression.
  const patterns = [`%:${user},%`, `%:${user}}%`, `%[${user}%`, `%,${user},%`, `%,${user}]%`]
  return sql<boolean>`(
    e.actor = ${`user:${user}`} or e.debit && ${accounts} or e.credit && ${accounts}
    or (e.data like any (${patterns}) and e.data ~ ${`${SINGLE_USER_FIELDS}${user}[,}]|${USER_LIST_FIELDS}${user}[],]`}))`
}
