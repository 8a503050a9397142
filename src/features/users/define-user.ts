import { bit } from '../../../schema/common.ts'
import type { AgencyCountry, EventData } from '../../../schema/events.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { fieldMessages } from '../../language/messages.ts'
import { foldedNames } from '../../language/names.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { keyOf, type State } from '../../ledger/rules/projection.ts'
import { type ExpectedVersion, isExpected } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { countries } from './country.ts'
import {
  haveRoom,
  roleCountKeys,
  type User,
  type UserProfile,
  userAfter,
  userProfiles,
  users,
  userUids,
  userVersion,
} from './user.ts'

/** Omitted fields keep their values, or get the defaults of a new user. */
export interface UserFields {
  readonly id: number
  readonly uid?: string | undefined
  readonly name?: string | undefined
  readonly avatar?: string | undefined
  readonly charging_agent?: boolean | undefined
  readonly allow_receive_withdraw_requests?: boolean | undefined
  readonly business_manager?: boolean | undefined
  readonly agency_countries?: readonly AgencyCountry[] | undefined
  readonly expected?: ExpectedVersion | undefined
}

export interface DefineUsers {
  readonly users: readonly UserFields[]
  /** Whether a list was sent. Errors are then keyed `users.<i>.uid` rather than `uid`. */
  readonly listed: boolean
}

export interface DefinedUser {
  readonly user: User
  readonly profile: UserProfile
}

const refusals = ['precondition_failed', 'validation_failed', 'holding_limit'] as const

/**
 * Creates or changes users, all or none. Flags and rates are events of the ledger; uid, name and avatar are profile data.
 * Refusals: `precondition_failed` (another version is stored), `validation_failed` (taken uids, ids or countries listed
 * twice, unknown countries), `holding_limit` (too many charging agents or business managers).
 */
export const defineUsers: Verb<DefineUsers, readonly DefinedUser[], typeof refusals> = {
  refusals,
  reads: (input) => [
    ...roleCountKeys,
    ...input.users.flatMap((user) => [
      keyOf(users, user.id),
      keyOf(userProfiles, user.id),
      keyOf(userUids, user.uid ?? defaultUid(user.id)),
      ...(user.agency_countries ?? []).map(({ country_id }) => keyOf(countries, country_id)),
    ]),
  ],

  decide(state, input) {
    if (!input.users.every((user) => isExpected(user.expected, storedUser(state, user.id), userVersion))) {
      return refuse('precondition_failed')
    }
    for (const guard of [takenUidErrors, duplicateIdErrors, unknownCountryErrors, duplicateCountryErrors]) {
      const errors = guard(state, input)
      if (errors.length > 0) return refuse('validation_failed', Object.fromEntries(errors))
    }
    const events = input.users.flatMap((user) => userDefinedEvents(state, user))
    const changes = events.map(({ data }) => {
      const before = state.get(users, String(data.user_id))
      return [before, userAfter(before, data)] as const
    })
    return haveRoom(state, changes) ? events : refuse('holding_limit')
  },

  sideWrites(state, input, { now, actor }) {
    const changed = input.users.flatMap((user) => {
      const before = state.get(userProfiles, String(user.id))
      const after = profileFields(user, before)
      if (before !== undefined && isSameProfile(after, before)) return []
      return [
        { before, after: { ...after, created_at: before?.created_at ?? now, updated_at: now, updated_by: actor } },
      ]
    })
    // All old uids are released before new ones are taken: two users of a list may swap theirs.
    for (const { before } of changed) if (before !== undefined) state.set(userUids, before.uid, undefined)
    for (const { after } of changed) {
      state.set(userProfiles, String(after.user_id), { ...after, ...foldedNames(after) })
      state.set(userUids, after.uid, { uid: after.uid, user_id: after.user_id })
    }
  },

  result: (state, input) =>
    input.users.map(({ id }) => {
      const user = state.get(users, String(id))
      const profile = state.get(userProfiles, String(id))
      if (user === undefined || profile === undefined) throw new Error(`user ${id} was not defined`)
      return { user, profile }
    }),
}

function storedUser(state: State, id: number): (User & UserProfile) | undefined {
  const user = state.get(users, String(id))
  const profile = state.get(userProfiles, String(id))
  return user && profile && { ...user, ...profile }
}

const defaultUid = (id: number): string => `u${id}`

type ProfileFields = Pick<UserProfile, 'user_id' | 'uid' | 'name' | 'avatar'>

const profileFields = (user: UserFields, before: UserProfile | undefined): ProfileFields => ({
  user_id: user.id,
  uid: user.uid ?? before?.uid ?? defaultUid(user.id),
  name: user.name ?? before?.name ?? `User ${user.id}`,
  avatar: user.avatar ?? before?.avatar ?? '',
})

const isSameProfile = (a: ProfileFields, b: ProfileFields): boolean =>
  a.uid === b.uid && a.name === b.name && a.avatar === b.avatar

/** The `user-defined` event, unless nothing changed. */
function userDefinedEvents(state: State, user: UserFields): LedgerEvent<'user-defined'>[] {
  const before = state.get(users, String(user.id))
  const data: EventData<'user-defined'> = {
    user_id: user.id,
    charging_agent: bit(user.charging_agent ?? before?.charging_agent ?? false),
    allow_receive_withdraw_requests: bit(
      user.allow_receive_withdraw_requests ?? before?.allow_receive_withdraw_requests ?? false,
    ),
    business_manager: bit(user.business_manager ?? before?.business_manager ?? false),
    agency_countries: [...(user.agency_countries ?? before?.agency_countries ?? [])],
  }
  const unchanged =
    before !== undefined &&
    data.charging_agent === bit(before.charging_agent) &&
    data.allow_receive_withdraw_requests === bit(before.allow_receive_withdraw_requests) &&
    data.business_manager === bit(before.business_manager) &&
    areSameCountries(data.agency_countries, before.agency_countries)
  return unchanged ? [] : [{ type: 'user-defined', data, movements: [] }]
}

const areSameCountries = (a: readonly AgencyCountry[], b: readonly AgencyCountry[]): boolean =>
  a.length === b.length &&
  a.every((country, i) => {
    const other = b[i]
    return country.country_id === other?.country_id && country.diamonds_per_dollar === other.diamonds_per_dollar
  })

type Errors = [field: string, messages: LocalizedText[]][]

const errorField = ({ listed }: DefineUsers, i: number, name: string): string => (listed ? `users.${i}.${name}` : name)

/** A uid must not belong to another user, unless that user gets a new one in the same list. */
function takenUidErrors(state: State, input: DefineUsers): Errors {
  const currentUids = input.users.map(({ id }) => state.get(userProfiles, String(id))?.uid)
  const requestedUids = input.users.map(({ id, uid }, i) => uid ?? currentUids[i] ?? defaultUid(id))
  const usersByUid = new Map<string, Set<number>>()
  input.users.forEach(({ id }, i) => {
    const uid = requestedUids[i] ?? ''
    usersByUid.set(uid, (usersByUid.get(uid) ?? new Set()).add(id))
  })
  const listedIds = new Set(input.users.map(({ id }) => id))
  return input.users.flatMap(({ id }, i) => {
    const uid = requestedUids[i] ?? ''
    // A kept uid is no conflict. A current holder who is in the list counts with its new uid only.
    const holder = uid === currentUids[i] ? id : (state.get(userUids, uid)?.user_id ?? id)
    const taken = usersByUid.get(uid)?.size !== 1 || !(holder === id || listedIds.has(holder))
    return taken ? [[errorField(input, i, 'uid'), [fieldMessages.taken]]] : []
  })
}

function duplicateIdErrors(_state: State, input: DefineUsers): Errors {
  const seen = new Set<number>()
  return input.users.flatMap(({ id }, i) => {
    if (seen.has(id)) return [[errorField(input, i, 'id'), [fieldMessages.listed_twice]]]
    seen.add(id)
    return []
  })
}

const unknownCountryErrors = (state: State, input: DefineUsers): Errors =>
  countryErrors(input, fieldMessages.unknown_country, (ids, i) => state.get(countries, String(ids[i])) === undefined)

const duplicateCountryErrors = (_state: State, input: DefineUsers): Errors =>
  countryErrors(input, fieldMessages.listed_twice, (ids, i) => ids.indexOf(ids[i] ?? 0) < i)

function countryErrors(
  input: DefineUsers,
  message: LocalizedText,
  isWrong: (countryIds: readonly number[], i: number) => boolean,
): Errors {
  return input.users.flatMap(({ agency_countries: list = [] }, i) => {
    const ids = list.map(({ country_id }) => country_id)
    return ids.flatMap(
      (_, j): Errors =>
        isWrong(ids, j) ? [[errorField(input, i, `agency_countries.${j}.country_id`), [message]]] : [],
    )
  })
}
