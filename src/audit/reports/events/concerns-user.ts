import { type RawBuilder, sql } from 'kysely'
import { accountTerm, factTerm, type Term, visitTerms } from '../../../ledger/indexes/index-terms.ts'
import { account, currencies } from '../../../ledger/rules/account.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import { parseData } from './parse-data.ts'

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

/** SQL: whether an event may concern a user; of the others `concernsUser` need not be asked. */
export const mayConcernUser = (user: number): RawBuilder<boolean> =>
  sql<boolean>`(e.actor = ${`user:${user}`} or strpos(e.movements || e.data, ${String(user)}) > 0)`

/** Whether an event was caused by this user, moves this user's value or names this user: as the index says. */
export function concernsUser(user: number, entry: LedgerEntry): boolean {
  const terms = termsOfUser(user)
  let isFound = false
  visitTerms({ ...entry, data: parseData(entry.data) ?? {}, entry }, (term) => {
    isFound ||= terms.includes(term)
  })
  return isFound
}
