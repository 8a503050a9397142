import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { entriesBetween } from '../../../ledger/indexes/account-entries.ts'
import { IndexLagExceeded, indexedSql, MAX_UNINDEXED_EVENTS, readSums } from '../../../ledger/indexes/index-reads.ts'
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
      ? await namesInOrder(db, query, prefixes, { head, indexed })
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

async function namesInOrder(
  db: Kysely<Tables>,
  { currency, cursor, limit, upTo }: AccountListQuery,
  prefixes: readonly string[],
  ends: Ends,
): Promise<Names> {
  const names: string[] = []
  let steps = 0
  for (const prefix of prefixes) {
    const end = prefix + LAST
    let from = cursor === undefined || cursor.account < prefix ? prefix : after(cursor.account)
    while (from < end) {
      // An account has one currency, and its holder mostly accounts in some others.
      const most = (limit - names.length) * (currency === undefined ? 1 : currencies.length)
      const rows = await accountsFrom(db, from, end, most)
      const isThere = await existence(db, rows, upTo, ends)
      for (const account of rows) {
        if (isThere(account) && (currency === undefined || account.endsWith(`:${currency}`))) names.push(account)
        if (names.length === limit) return { names, next: { account, balance: '0' } }
      }
      steps += rows.length
      const last = rows.at(-1)
      if (last === undefined || rows.length < most) break
      if (steps >= MAX_STEPS) return { names, next: { account: last, balance: '0' } }
      from = after(last)
    }
  }
  return { names, next: null }
}

/** The next accounts between two names, at most so many. */
async function accountsFrom(db: Kysely<Tables>, from: string, end: string, most: number): Promise<readonly string[]> {
  const { rows } = await sql<{ account: string }>`
    select account from balances where account >= ${from} and account < ${end}
    order by account limit ${most}`.execute(db)
  return rows.map(({ account }) => account)
}

/** Which of these accounts, which have moved by now, had moved by a position. */
async function existence(
  db: Kysely<Tables>,
  accounts: readonly string[],
  upTo: number,
  { head, indexed }: Ends,
): Promise<(account: string) => boolean> {
  let unsure = new Set(accounts)
  if (head - upTo <= MAX_UNINDEXED_EVENTS)
    unsure = new Set((await entriesBetween(db, accounts, upTo, head)).map(({ account }) => account))
  if (unsure.size === 0) return () => true
  const known = Math.min(upTo, indexed)
  const sums = await readSums(db, [...unsure], [known])
  const later = new Set((await entriesBetween(db, [...unsure], known, upTo)).map(({ account }) => account))
  return (account) => !unsure.has(account) || sums(account, known).last > 0 || later.has(account)
}

/**
 * Sorts all accounts by their balances as of the position: from the table with the movements after it taken back, or from the
 * movements up to it, whichever are fewer.
 */
async function namesByBalance(
  db: Kysely<Tables>,
  { currency, sort, cursor, limit, upTo }: AccountListQuery,
  prefixes: readonly string[],
  ends: Ends,
): Promise<Names> {
  const isBefore = sort === 'largest' ? sql`<` : sql`>`
  const order = sort === 'largest' ? sql`desc` : sql`asc`
  const patterns = prefixes.map((prefix) => `${prefix.replaceAll(/[\\%_]/g, '\\$&')}%`)
  const isNamed =
    prefixes.length === holders.length && prefixes.every((prefix) => holders.some((kind) => prefix === `${kind}:`))
      ? sql`true`
      : sql`account like any (${patterns}::text[])`
  const all =
    ends.head - upTo > upTo
      ? sql`select account, change as balance, false as is_new from (${changes(sql`0`, sql`${upTo}::bigint`)}) c`
      : sql`
        select b.account, b.balance - coalesce(c.change, 0) as balance, coalesce(c.change = b.balance, false) as is_new
        from balances b left join (${changes(sql`${upTo}::bigint`, sql`(select position from ledger_head)`)}) c using (account)`
  const { rows } = await sql<{ account: string; total: string; is_new: boolean }>`
    select account, balance::text as total, is_new from (${all}) pinned
    where ${isNamed}
      and (${currency ?? null}::text is null or right(account, ${(currency ?? '').length + 1}) = ${`:${currency ?? ''}`})
      and (${cursor === undefined} or balance ${isBefore} ${cursor?.balance ?? '0'}::numeric
        or balance = ${cursor?.balance ?? '0'}::numeric and account > ${cursor?.account ?? ''})
    order by balance ${order}, account limit ${limit + 1}`.execute(db)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  // What had nothing, and has moved since, may have begun since.
  const unsure = page.filter(({ is_new }) => is_new).map(({ account }) => account)
  const isThere = await existence(db, unsure, upTo, ends)
  return {
    names: page.map(({ account }) => account).filter((account) => !unsure.includes(account) || isThere(account)),
    next: rows.length > limit && last !== undefined ? { account: last.account, balance: last.total } : null,
  }
}

/** `account, change`: the sums of movements after one position and up to another. */
const changes = (after: RawBuilder<number>, upTo: RawBuilder<number>) => sql`
  select account collate "C" as account, sum(change) as change
  from (
    select side.account, side.change
    from ledger_movements, lateral (values (debit, -amount), (credit, amount)) as side (account, change)
    where position > ${after} and position <= ${upTo}
  ) sides
  group by 1`
