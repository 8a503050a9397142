import { Value } from '@sinclair/typebox/value'
import { type Kysely, sql } from 'kysely'
import type { ChargingAgent } from '../../../schema/agency.ts'
import {
  type DollarWallet,
  DollarWallet as Wallet,
  WithdrawalStatus,
  WithdrawalType,
} from '../../../schema/agency-events.ts'
import type { Person } from '../../../schema/common.ts'
import type { AgencyCountry } from '../../../schema/events.ts'
import { isAnyOf, micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { nameIn, type StoredName } from '../../language/names.ts'
import { withAvatarUrl } from '../asset-url.ts'
import { type PresentationOptions, type SealedWithdrawal, sealedRecord } from './presenters.ts'
import {
  type NamedCountry,
  type NamedWithdrawal,
  nameWithdrawal,
  unnamed,
  unnamedPerson,
} from './withdrawals/withdrawal.ts'

type Db = Kysely<Tables>

/** Conditions on requests; undefined fields match all. */
export interface WithdrawalFilter {
  readonly type?: WithdrawalType | undefined
  readonly status?: WithdrawalStatus | undefined
  readonly wallet?: DollarWallet | undefined
}

/** All users' requests before an id (null: from the newest), newest first. */
export async function findWithdrawals(
  db: Db,
  filter: WithdrawalFilter,
  limit: number,
  before: number | null,
  options: PresentationOptions,
): Promise<SealedWithdrawal[]> {
  const conditions = [
    ['w.type', filter.type],
    ['w.status', filter.status],
    ['w.wallet', filter.wallet],
  ] as const
  const rows = await selectWithdrawals(db)
    .where((eb) =>
      eb.and([
        ...conditions.flatMap(([column, value]) => (value === undefined ? [] : [eb(column, '=', value)])),
        ...(before === null ? [] : [eb('w.withdrawal_id', '<', before)]),
      ]),
    )
    .orderBy('w.withdrawal_id', 'desc')
    .limit(limit)
    .execute()
  return (await nameRows(db, rows)).map((named) => sealedRecord(named, options))
}

/** A request with the names of those it is about; undefined when there is none with this id. */
export async function findWithdrawal(db: Db, id: number): Promise<NamedWithdrawal | undefined> {
  const [named] = await nameRows(db, await selectWithdrawals(db).where('w.withdrawal_id', '=', id).execute())
  return named
}

const selectWithdrawals = (db: Db) =>
  db
    .selectFrom('withdrawals as w')
    .select(['w.withdrawal_id', 'w.type', 'w.status', 'w.user_id', 'w.target_id', 'w.beneficiary_id', 'w.country_id'])
    .select(['w.wallet', 'w.amount', 'w.diamonds_per_dollar', 'w.details', 'w.note', 'w.approved', 'w.changed'])
    .select([micros('w.created_at').as('created_at'), micros('w.changed_at').as('changed_at')])

type StoredWithdrawal = Awaited<ReturnType<ReturnType<typeof selectWithdrawals>['execute']>>[number]

async function nameRows(db: Db, rows: readonly StoredWithdrawal[]): Promise<NamedWithdrawal[]> {
  const [person, names] = await Promise.all([
    personLookup(
      db,
      rows.flatMap(({ user_id, target_id, beneficiary_id }) => [user_id, target_id, beneficiary_id]),
    ),
    countryNames(db),
  ])
  const country = (id: number): NamedCountry => ({ id, ...(names.get(id) ?? unnamed) })
  return rows.map(({ type, status, wallet, ...row }) =>
    nameWithdrawal(
      {
        ...row,
        type: Value.Parse(WithdrawalType, type),
        status: Value.Parse(WithdrawalStatus, status),
        wallet: Value.Parse(Wallet, wallet),
      },
      { person, country },
    ),
  )
}

/** The requester, and the vault record with the details. */
export const findRequesterAndDetails = (db: Db, withdrawalId: number) =>
  db
    .selectFrom('withdrawals')
    .select(['user_id', 'details'])
    .where('withdrawal_id', '=', withdrawalId)
    .executeTakeFirst()

/**
 * All charging agents who accept requests, newest first, with the countries they serve. Their number is limited when users
 * are defined (`../users/user.ts`).
 */
export async function chargingAgents(
  db: Db,
  { assetBaseUrl, language }: PresentationOptions,
): Promise<ChargingAgent[]> {
  const [agents, names] = await Promise.all([
    db
      .selectFrom('users as u')
      .innerJoin('user_profiles as p', 'p.user_id', 'u.user_id')
      .select(['u.user_id as id', 'p.name', 'p.uid', 'p.avatar', 'u.agency_countries'])
      // The predicate of the partial index.
      .where(sql<boolean>`u.charging_agent and u.allow_receive_withdraw_requests`)
      .orderBy('p.created_at', 'desc')
      .orderBy('u.user_id', 'desc')
      .execute(),
    countryNames(db),
  ])
  return agents.map(({ agency_countries, ...agent }) => {
    const served: AgencyCountry[] = JSON.parse(agency_countries)
    return {
      ...withAvatarUrl(agent, assetBaseUrl),
      countries: served.map(({ country_id, diamonds_per_dollar }) => ({
        id: country_id,
        name: nameIn(names.get(country_id) ?? unnamed, language),
        diamonds_per_dollar,
      })),
    }
  })
}

/** All business managers without one user, who cannot ask themselves; newest first. Limited like charging agents. */
export const businessManagers = (db: Db, without: number): Promise<Person[]> =>
  db
    .selectFrom('users as u')
    .innerJoin('user_profiles as p', 'p.user_id', 'u.user_id')
    .select(['u.user_id as id', 'p.name', 'p.uid', 'p.avatar'])
    // The predicate of the partial index.
    .where(sql<boolean>`u.business_manager`)
    .where('u.user_id', '!=', without)
    .orderBy('p.created_at', 'desc')
    .orderBy('u.user_id', 'desc')
    .execute()

/** Names of all countries by id; there are few. */
async function countryNames(db: Db): Promise<ReadonlyMap<number, StoredName>> {
  const countries = await db.selectFrom('countries').select(['country_id', 'name', 'name_ar']).execute()
  return new Map(countries.map(({ country_id, ...name }) => [country_id, name]))
}

async function personLookup(db: Db, ids: readonly (number | null)[]): Promise<(id: number) => Person> {
  const distinctIds = [...new Set(ids)].filter((id) => id !== null)
  if (distinctIds.length === 0) return unnamedPerson
  const people = await db
    .selectFrom('user_profiles')
    .select(['user_id as id', 'name', 'uid', 'avatar'])
    .where(isAnyOf('user_id', distinctIds))
    .execute()
  const known = new Map(people.map((one) => [one.id, one]))
  return (id) => known.get(id) ?? unnamedPerson(id)
}
