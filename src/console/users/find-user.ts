import type { FastifyRequest } from 'fastify'
import { type Kysely, sql } from 'kysely'
import type { AgencyCountry } from '../../../schema/events.ts'
import { isAnyOf, micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { isErased } from '../../features/users/user.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import type { Micros } from '../../ledger/rules/time.ts'

/** What is shown of a person. */
export interface Person {
  readonly user_id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
}

/** How a page calls somebody; of an erased person only the id is left. */
export function personName(person: Person): string {
  if (isErased(person)) return `Erased person ${person.user_id}`
  return person.name === '' ? `User ${person.user_id}` : person.name
}

/** A user with profile and flags. */
export interface User extends Person {
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
  readonly countries: readonly (AgencyCountry & { readonly name: string | null })[]
  /** Seconds since 1970; tokens issued before are refused. 0: never revoked. */
  readonly sessions_revoked_before: number
  readonly created_at: Micros
  readonly updated_at: Micros
  readonly updated_by: string
}

/** The user in the path of a request. Throws a 404. */
export async function findUser(db: Kysely<Tables>, request: Pick<FastifyRequest, 'params'>): Promise<User> {
  const id = idOf(request)
  const row = await db
    .selectFrom('users as u')
    .innerJoin('user_profiles as p', 'p.user_id', 'u.user_id')
    .select(['u.user_id', 'u.charging_agent', 'u.allow_receive_withdraw_requests', 'u.business_manager'])
    .select(['u.sessions_revoked_before', 'p.uid', 'p.name', 'p.avatar', 'p.updated_by'])
    .select([micros('p.created_at').as('created_at'), micros('p.updated_at').as('updated_at')])
    .select(
      sql<User['countries']>`(
        select coalesce(json_agg(json_build_object('country_id', a.country_id,
                 'diamonds_per_dollar', a.diamonds_per_dollar, 'name', c.name)), '[]')
        from json_to_recordset(u.agency_countries::json) as a (country_id bigint, diamonds_per_dollar bigint)
        left join countries c on c.country_id = a.country_id)`.as('countries'),
    )
    .where('u.user_id', '=', id)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

/** What a user is besides a user, in words. */
export const roleNames = (
  user: Pick<User, 'charging_agent' | 'allow_receive_withdraw_requests' | 'business_manager'>,
) =>
  [
    ...(user.charging_agent ? ['charging agent'] : []),
    ...(user.allow_receive_withdraw_requests ? ['receives requests'] : []),
    ...(user.business_manager ? ['business manager'] : []),
  ].join(', ')

/** Names of users, by id; without those of users who have none. */
export async function readUserNames(db: Kysely<Tables>, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('user_profiles')
    .select(['user_id', 'name'])
    .where(isAnyOf('user_id', [...new Set(ids)]))
    .execute()
  return new Map(rows.map(({ user_id, name }) => [user_id, name]))
}
