import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { IndexLagExceeded, indexedSql, MAX_UNINDEXED_EVENTS } from '../../../ledger/indexes/index-reads.ts'
import { accountRowsSql } from '../../../ledger/indexes/index-rows.ts'
import { type Currency, currencies, type Holder, holders, isSystem } from '../../../ledger/rules/account.ts'
import { readBalancesAt, readHoldsAt } from './balances-at.ts'

type AccountOrder = 'account' | 'largest' | 'smallest'

/** The last account of a page. */
export interface AccountCursor {
  readonly account: string
  /** As of the list's position; as text, as it may be beyond 2^53. */
  readonly balance: string
}

export interface AccountListQuery {
  readonly kind?: Holder | undefined
  readonly currency?: Currency | undefined
  /** The number of a user, room, game or withdrawal; else the beginning of an account or of a system account's id. */
  readonly q?: string | undefined
  readonly sort: AccountOrder
  /** `next` of the page before. */
  readonly cursor?: AccountCursor | undefined
  readonly limit: number
  /** As of this position, so that pages do not shift. */
  readonly upTo: number
}

export interface ListedAccount {
  readonly account: string
  /** Whole units (cents of a dollar), as of the list's position. */
  readonly balance: bigint
  readonly held: bigint
}

export interface AccountList {
  readonly accounts: readonly ListedAccount[]
  /** `cursor` of the next page; null at the end. A page may be short, or empty, before the end. */
  readonly next: AccountCursor | null
}

/** Accounts that are looked at for one page, by name. */
const MAX_STEPS = 2_000
/** Events after the list's position whose changes are taken back; a list of an older position takes longer. */
const MAX_UNDONE_EVENTS = 20_000
/** After every account whose name begins with what is before it. */
const LAST = '\u{10ffff}'
/** Before every other text that comes after this one. */
const after = (account: string): string => `${account}\u0001`

/** The accounts that had movements by a position. Throws `IndexLagExceeded`. */
export async function listAccounts(db: Kysely<Tables>, query: AccountListQuery): Promise<AccountList> {
  const { upTo, sort } = query
  const { rows } = await sql<Ends>`
    select position as head, ${indexedSql} as indexed from ledger_head`.execute(db)
  const { head, indexed } = rows[0] ?? { head: 0, indexed: 0 }
  // Before the names are read, as the index may have caught up after them.
  if (upTo - indexed > MAX_UNINDEXED_EVENTS) throw new IndexLagExceeded(`the index ends at ${indexed}, before ${upTo}`)
  const prefixes = prefixesOf(query)
  const { names, next } =
    sort === 'account'
      ? await namesInOrder(db, query, prefixes)
      : await namesByBalance(db, query, prefixes, { head, indexed })
  const [balances, holds] = await Promise.all([readBalancesAt(db, names, upTo), readHoldsAt(db, names, upTo)])
  const held = Map.groupBy(holds, ({ account }) => account)
  const accounts = names.map((account) => ({
    account,
    balance: balances.get(account) ?? 0n,
    held: (held.get(account) ?? []).reduce((sum, { amount }) => sum + amount, 0n),
  }))
  return { accounts, next }
}

/** What the names begin with, in order, none of them the beginning of another one. */
function prefixesOf({ kind, q }: AccountListQuery): readonly string[] {
  const ofKind = kind === undefined ? holders : [kind]
  const found =
    q === undefined || q === ''
      ? ofKind.map((one) => `${one}:`)
      : [
          ...ofKind.map((one) => `${one}:${q}${isNumbered(one) ? ':' : ''}`),
          ...ofKind.flatMap((one) => beginning(`${one}:`, q)),
        ]
  const sorted = [...new Set(found)].toSorted()
  return sorted.filter((prefix, i) => !sorted.slice(0, i).some((other) => prefix.startsWith(other)))
}

const isNumbered = (kind: Holder): boolean => !isSystem(`${kind}:`)

/** What names of a kind begin with when they begin with a text, too. */
const beginning = (kind: string, text: string): readonly string[] =>
  text.startsWith(kind) ? [text] : kind.startsWith(text) ? [kind] : []

/** Where the ledger ends, and where its indexes do. */
interface Ends {
  readonly head: number
  readonly indexed: number
}

interface Names {
  readonly names: readonly string[]
  readonly next: AccountCursor | null
}

/** Steps from name to name through the index of accounts. */
async function namesInOrder(
  db: Kysely<Tables>,
  { currency, cursor, limit, upTo }: AccountListQuery,
  prefixes: readonly string[],
): Promise<Names> {
  const names: string[] = []
  let steps = 0
  for (const prefix of prefixes) {
    const end = prefix + LAST
    let from = cursor === undefined || cursor.account < prefix ? prefix : after(cursor.account)
    while (from < end) {
      // An account has one currency, and its holder mostly accounts in some others.
      const most = (limit - names.length) * (currency === undefined ? 1 : currencies.length)
      const rows = await stepFrom(db, from, end, most, upTo)
      for (const { account, is_there } of rows) {
        if (is_there && (currency === undefined || account.endsWith(`:${currency}`))) names.push(account)
        if (names.length === limit) return { names, next: { account, balance: '0' } }
      }
      steps += rows.length
      const last = rows.at(-1)
      if (last === undefined || rows.length < most) break
      if (steps >= MAX_STEPS) return { names, next: { account: last.account, balance: '0' } }
      from = after(last.account)
    }
  }
  return { names, next: null }
}

/** The next names between two, and whether they had movements by a position; at most so many. */
async function stepFrom(db: Kysely<Tables>, from: string, end: string, most: number, upTo: number) {
  const { rows } = await sql<{ account: string; is_there: boolean }>`
    with recursive steps as (
      (select account, base + offsets[1] <= ${upTo} as is_there, 1 as step from account_index
       where account >= ${from} and account < ${end} order by account, base limit 1)
      union all
      select i.account, i.is_there, s.step + 1
      from steps s cross join lateral (
        select account, base + offsets[1] <= ${upTo} as is_there from account_index
        where account > s.account and account < ${end} order by account, base limit 1
      ) i
      where s.step < ${most}
    ), unindexed as (
      select unnest(debit || credit) collate "C" as account from ledger_events
      where position > ${indexedSql} and position <= ${upTo}
    )
    select account, bool_or(is_there) as is_there
    from (
      select account, is_there from steps
      union all select account, true from unindexed where account >= ${from} and account < ${end}
    ) found
    group by account order by account limit ${most}`.execute(db)
  return rows
}

/** Sorts all accounts by their balances as of the position: milliseconds for ten thousands of them. */
async function namesByBalance(
  db: Kysely<Tables>,
  { currency, sort, cursor, limit, upTo }: AccountListQuery,
  prefixes: readonly string[],
  { head, indexed }: Ends,
): Promise<Names> {
  const isBefore = sort === 'largest' ? sql`<` : sql`>`
  const order = sort === 'largest' ? sql`desc` : sql`asc`
  const isRecent = head - upTo <= MAX_UNDONE_EVENTS
  const patterns = prefixes.map((prefix) => `${prefix.replaceAll(/[\\%_]/g, '\\$&')}%`)
  const isNamed =
    prefixes.length === holders.length && prefixes.every((prefix) => holders.some((kind) => prefix === `${kind}:`))
      ? sql`true`
      : sql`b.account collate "C" like any (${patterns}::text[])`
  const balance = isRecent ? sql`b.balance - coalesce(c.change, 0)` : balanceAt(upTo)
  const { rows } = await sql<{ account: string; total: string }>`
    with bounds as materialized (
      select ${upTo}::bigint as up_to, case when ${isRecent} then position else ${upTo} end as later from ledger_head
    ), changes as materialized (
      select account, sum(change) as change
      from (${sql.raw(accountRowsSql('(select up_to from bounds)', '(select later from bounds)'))}) later
      group by account
    ), unindexed as materialized (
      select distinct unnest(debit || credit) as account from ledger_events
      where position > ${indexed} and position <= ${upTo}
    ), pinned as (
      select b.account, ${balance} as balance
      from balances b left join changes c on c.account = b.account collate "C"
      where ${isNamed}
        and (${currency ?? null}::text is null or right(b.account, ${(currency ?? '').length + 1}) = ${`:${currency ?? ''}`})
        -- What had no movement by then had nothing.
        and (c.account is null or b.balance <> c.change or b.account in (select account from unindexed) or exists (
          select from account_index i where i.account = c.account and i.base + i.offsets[1] <= ${upTo}
        ))
    )
    select account, balance::text as total from pinned
    where balance is not null and (${cursor === undefined} or balance ${isBefore} ${cursor?.balance ?? '0'}::numeric
      or balance = ${cursor?.balance ?? '0'}::numeric and account collate "C" > ${cursor?.account ?? ''})
    order by balance ${order}, account collate "C" limit ${limit + 1}`.execute(db)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    names: page.map(({ account }) => account),
    next: rows.length > limit && last !== undefined ? { account: last.account, balance: last.total } : null,
  }
}

/** As of a position in the past: null before an account's first movement. */
const balanceAt = (upTo: number) => sql<string | null>`(
  select i.balance - coalesce((
    select sum(case when e.credit[n] = b.account then e.amount[n] else -e.amount[n] end)
    from (select distinct o from unnest(i.offsets) as o) as o (o)
    join ledger_events e on e.position = i.base + o
    cross join lateral generate_subscripts(e.amount, 1) as n
    where i.base + o > ${upTo} and b.account in (e.credit[n], e.debit[n])
  ), 0)
  from account_index i
  where i.account = b.account collate "C" and i.base < ${upTo} and i.base + i.offsets[1] <= ${upTo}
  order by i.base desc limit 1
)`
