import { type Kysely, sql } from 'kysely'
import { isNameWord, type Person } from '../../../schema/common.ts'
import type { AgencyCountry } from '../../../schema/events.ts'
import { beginsWith, isAfterCursor, isAnyOf, isWord, micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredName } from '../../language/names.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import { isErased } from './user.ts'

type Db = Kysely<Tables>

/** A user with profile. */
export interface UserRow {
  readonly user_id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
  readonly agency_countries: readonly AgencyCountry[]
  readonly created_at: Micros
}

export async function userById(db: Db, id: number): Promise<UserRow | undefined> {
  const row = await userRows(db).where('u.user_id', '=', id).executeTakeFirst()
  return row && toUserRow(row)
}

/** Newest first; `cursor` is [created_at, user_id] of the last user of the page before. */
export async function newestUsers(db: Db, limit: number, cursor: readonly number[] | null): Promise<UserRow[]> {
  const rows = await userRows(db)
    .$if(cursor !== null, (query) => query.where(isAfterCursor('p.created_at', 'p.user_id', cursor ?? [])))
    .orderBy('p.created_at', 'desc')
    .orderBy('p.user_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toUserRow)
}

const userRows = (db: Db) =>
  db
    .selectFrom('users as u')
    .innerJoin('user_profiles as p', 'p.user_id', 'u.user_id')
    .select(['u.user_id', 'u.charging_agent', 'u.allow_receive_withdraw_requests', 'u.business_manager'])
    .select(['u.agency_countries', 'p.uid', 'p.name', 'p.avatar', micros('p.created_at').as('created_at')])

function toUserRow(row: Omit<UserRow, 'agency_countries'> & { readonly agency_countries: string }): UserRow {
  const agency_countries: AgencyCountry[] = JSON.parse(row.agency_countries)
  return { ...row, agency_countries }
}

/** Profiles of users by id, each with the URL of the avatar; `assetBaseUrl` has no trailing slash. */
export const userNames = (assetBaseUrl: () => string) => async (db: Db, ids: readonly number[]) => {
  const rows = await db
    .selectFrom('user_profiles')
    .select(['user_id as id', 'name', 'avatar', 'uid'])
    .where(isAnyOf('user_id', ids))
    .execute()
  const base = assetBaseUrl()
  return new Map(rows.map((row) => [row.id, { ...row, picture: assetUrl(row.avatar, base) }]))
}

/** People in a search. */
const MAX_FOUND = 20

const people = (db: Db) => db.selectFrom('user_profiles').select(['user_id as id', 'name', 'uid', 'avatar'])

/** A person as other users see one; undefined for someone who is unknown or erased. */
export async function personById(db: Db, id: number): Promise<Person | undefined> {
  const person = await people(db).where('user_id', '=', id).executeTakeFirst()
  return person === undefined || isErased(person) ? undefined : person
}

/**
 * People with this uid, then those whose name begins with the word, by name and id, all by folded letters; at most 20, and
 * nobody who was erased.
 */
export async function findPeople(db: Db, word: string): Promise<Person[]> {
  const [byUid, byName] = await Promise.all([
    people(db)
      .where(isWord('uid_folded', word))
      .orderBy((eb) => eb('uid', '=', word), 'desc')
      .orderBy('uid')
      .limit(MAX_FOUND)
      .execute(),
    isNameWord(word)
      ? people(db)
          .where(beginsWith('name_folded', word))
          // The order of the index.
          .orderBy(sql`name_folded using ~<~`)
          .orderBy('user_id')
          .limit(MAX_FOUND)
          .execute()
      : [],
  ])
  const found = new Map([...byUid, ...byName].map((person) => [person.id, person]))
  return [...found.values()].filter((person) => !isErased(person)).slice(0, MAX_FOUND)
}

export interface CountryRow extends StoredName {
  readonly country_id: number
  readonly created_at: Micros
}

export const countryById = (db: Db, id: number): Promise<CountryRow | undefined> =>
  countryRows(db).where('country_id', '=', id).executeTakeFirst()

/** Newest first; `cursor` is [created_at, country_id] of the last country of the page before. */
export const newestCountries = (db: Db, limit: number, cursor: readonly number[] | null): Promise<CountryRow[]> =>
  countriesNewestFirst(db)
    .$if(cursor !== null, (query) => query.where(isAfterCursor('c.created_at', 'c.country_id', cursor ?? [])))
    .limit(limit)
    .execute()

const countryRows = (db: Db) =>
  db
    .selectFrom('countries as c')
    .select(['c.country_id', 'c.name', 'c.name_ar', micros('c.created_at').as('created_at')])

const countriesNewestFirst = (db: Db) => countryRows(db).orderBy('c.created_at', 'desc').orderBy('c.country_id', 'desc')

/** All countries, newest first. `MAX_COUNTRIES` limits them when they are defined. */
export const allCountries = (db: Db): Promise<CountryRow[]> => countriesNewestFirst(db).execute()
