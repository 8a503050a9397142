import { type RawBuilder, sql } from 'kysely'
import { accountTerm, factTerm, type Term } from '../../../ledger/indexes/index-terms.ts'
import { account, currencies } from '../../../ledger/rules/account.ts'

/** Fields of event data with one user's id, and with a list of ids. */
const SINGLE_USER_FIELDS = '(user|sender|receiver|creator|winner|owner|target|beneficiary)_id":'
const USER_LIST_FIELDS = '(user|receiver|player|loser)_ids":\\[([0-9]+,)*'

/**
 * For each fact that a filter names, the rarest kind first: an event that the filter picks has one of its terms, and others
 * may have one, too.
 */
export function factsOf({
  type,
  actor,
  user,
  account: name,
  requestId,
  idempotencyKey,
}: FilteredFacts): readonly (readonly Term[])[] {
  const facts: (readonly Term[])[] = []
  if (requestId !== undefined) facts.push([factTerm('request', requestId)])
  if (idempotencyKey !== undefined) facts.push([factTerm('key', idempotencyKey)])
  if (user !== undefined && user !== null) facts.push(termsOfUser(user))
  if (name !== undefined) facts.push([accountTerm(name)])
  if (actor !== undefined) {
    const id = /^user:([1-9][0-9]{0,15})$/.exec(actor)?.[1]
    facts.push(id === undefined ? [factTerm('actor', actor)] : termsOfUser(Number(id)))
  }
  if (type !== undefined && type !== null) facts.push([factTerm('type', type)])
  return facts
}

const termsOfUser = (user: number): readonly Term[] => [
  ...(['user', 'sender', 'receiver'] as const).map((kind) => factTerm(kind, user)),
  ...currencies.map((currency) => accountTerm(account('user', user, currency))),
]

/** What is absent or null matches all. */
interface FilteredFacts {
  readonly type?: string | null | undefined
  readonly actor?: string | undefined
  readonly user?: number | null | undefined
  readonly account?: string | undefined
  readonly requestId?: string | undefined
  readonly idempotencyKey?: string | undefined
}

/** Whether an event was caused by this user, moves this user's value or names this user. */
export function concernsUser(user: number): RawBuilder<boolean> {
  const accounts = currencies.map((currency) => account('user', user, currency))
  return sql<boolean>`(
    e.actor = ${`user:${user}`} or e.debit && ${accounts} or e.credit && ${accounts} or ${namesUser(user)})`
}

/** Whether the data of an event names this user. */
function namesUser(user: number): RawBuilder<boolean> {
  // Each rules out most of what is left, and takes a fraction of the time of the next; without `case` the planner would
  // choose the order.
  const patterns = [`%:${user},%`, `%:${user}}%`, `%[${user}%`, `%,${user},%`, `%,${user}]%`]
  return sql<boolean>`case when strpos(e.data, ${String(user)}) = 0 then false when not e.data like any (${patterns}) then false
    else e.data ~ ${`${SINGLE_USER_FIELDS}${user}[,}]|${USER_LIST_FIELDS}${user}[],]`} end`
}
