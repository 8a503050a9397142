import { type Kysely, sql } from 'kysely'
import { isNameWord } from '../../../schema/search.ts'
import { beginsWith, isWord } from '../../db/queries/begins-with.ts'
import { isAfterCursor } from '../../db/queries/keyset-pagination.ts'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import { parseId } from '../../ledger/rules/parse-id.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { Person } from './person.ts'

/** A role that has an index of its holders. */
export type ListedRole = 'charging_agent' | 'business_manager'

export interface UsersQuery {
  /** An id, a uid, or the beginning of a name. */
  readonly q?: string | undefined
  readonly role?: ListedRole | undefined
  /** Only charging agents who serve this country. */
  readonly country?: number | undefined
  /** Nobody who was announced after the event at this position. */
  readonly at: number
  /** [created_at, user_id] of the last user of the page before. */
  readonly cursor: readonly number[] | null
  readonly limit: number
}

export interface ListedUser extends Person {
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
  readonly created_at: Micros
}

// The predicates of the partial indexes.
const isRole = {
  charging_agent: sql<boolean>`u.charging_agent and u.allow_receive_withdraw_requests`,
  business_manager: sql<boolean>`u.business_manager`,
}

/** Users, newest first. */
export function findUsers(
  db: Kysely<Tables>,
  { q, role, country, at, cursor, limit }: UsersQuery,
): Promise<ListedUser[]> {
  const announced = sql<string>`coalesce((select e.at from ledger_events e where e.position = ${at}), 'epoch')`
  return db
    .selectFrom('user_profiles as p')
    .innerJoin('users as u', 'u.user_id', 'p.user_id')
    .select(['p.user_id', 'p.uid', 'p.name', 'p.avatar', micros('p.created_at').as('created_at')])
    .select(['u.charging_agent', 'u.allow_receive_withdraw_requests', 'u.business_manager'])
    .where('p.created_at', '<=', announced)
    .$if(q !== undefined, (query) => query.where(isMeant(q ?? '')))
    .$if(role !== undefined, (query) => query.where(isRole[role ?? 'business_manager']))
    .$if(country !== undefined, (query) =>
      query
        .where(isRole.charging_agent)
        .where(sql<boolean>`u.agency_countries::jsonb @> ${JSON.stringify([{ country_id: country }])}::jsonb`),
    )
    .$if(cursor !== null, (query) => query.where(isAfterCursor('p.created_at', 'p.user_id', cursor ?? [])))
    .orderBy('p.created_at', 'desc')
    .orderBy('p.user_id', 'desc')
    .limit(limit)
    .execute()
}

/** Whether a user may be meant by a word: each part is served by an index. */
function isMeant(q: string) {
  const word = q.trim()
  const id = parseId(word)
  return sql<boolean>`(${sql.join(
    [
      isWord('p.uid_folded', word),
      ...(id === null ? [] : [sql`p.user_id = ${id}`]),
      ...(isNameWord(word) ? [beginsWith('p.name_folded', word)] : []),
    ],
    sql` or `,
  )})`
}
