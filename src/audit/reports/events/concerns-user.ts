import { type RawBuilder, sql } from 'kysely'
import { account, type Currency, currencies } from '../../../ledger/rules/account.ts'

/** Fields of event data with one user's id, and with a list of ids. */
const SINGLE_USER_FIELDS = '(user|sender|receiver|creator|winner|owner|target|beneficiary)_id":'
const USER_LIST_FIELDS = '(user|receiver|player|loser)_ids":\\[([0-9]+,)*'

export const accountsOfUser = (user: number): readonly `user:${number}:${Currency}`[] =>
  currencies.map((currency): `user:${number}:${Currency}` => `user:${user}:${currency}`)

/** Whether an event was caused by this user, moves this user's value or names this user. */
export function concernsUser(user: number): RawBuilder<boolean> {
  const accounts = currencies.map((currency) => account('user', user, currency))
  return sql<boolean>`(
    e.actor = ${`user:${user}`} or e.debit && ${accounts} or e.credit && ${accounts} or ${namesUser(user)})`
}

/** Whether the data of an event names this user. */
export function namesUser(user: number): RawBuilder<boolean> {
  // Each rules out most of what is left, and takes a fraction of the time of the next; without `case` the planner would
  // choose the order.
  const patterns = [`%:${user},%`, `%:${user}}%`, `%[${user}%`, `%,${user},%`, `%,${user}]%`]
  return sql<boolean>`case when strpos(e.data, ${String(user)}) = 0 then false when not e.data like any (${patterns}) then false
    else e.data ~ ${`${SINGLE_USER_FIELDS}${user}[,}]|${USER_LIST_FIELDS}${user}[],]`} end`
}
