import type { AgencyCountry, EventData } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { boolean, integer, json, micros, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { versionOfValues } from '../../ledger/rules/stored-values.ts'
import { countRoles } from './listed-roles.ts'

/** Ledger data of users: what rules about value depend on. A user exists from the first `user-defined` event on. */
export const users = projection('users', {
  user_id: integer(),
  charging_agent: boolean(),
  allow_receive_withdraw_requests: boolean(),
  business_manager: boolean(),
  agency_countries: json<readonly AgencyCountry[]>(),
  /** Tokens issued before this second are expired; 0 when sessions were never revoked. */
  sessions_revoked_before: integer(),
})

export type User = RowOf<typeof users>

/** Profile data, which is not part of the ledger. */
export const userProfiles = projection('user_profiles', {
  user_id: integer(),
  uid: text(),
  name: text(),
  avatar: text(),
  created_at: micros(),
  updated_at: micros(),
  updated_by: text(),
  uid_folded: text(),
  name_folded: text(),
})

export type UserProfile = RowOf<typeof userProfiles>

const ERASED_UID_PREFIX = 'forgotten-'

/** A neutral uid. Random, so that it cannot be taken in advance; `random` is 32 hex digits. */
export const erasedUid = (random: string): string => `${ERASED_UID_PREFIX}${random}`

const isErasedUid = (uid: string): boolean =>
  uid.startsWith(ERASED_UID_PREFIX) && /^[0-9a-f]{32}$/.test(uid.slice(ERASED_UID_PREFIX.length))

/** Whether nothing of a profile identifies a person any more. */
export const isErased = ({ name, avatar, uid }: Pick<UserProfile, 'name' | 'avatar' | 'uid'>): boolean =>
  name === '' && avatar === '' && isErasedUid(uid)

/** The version of what defining a user sets. */
export const userVersion = ({
  uid,
  name,
  avatar,
  charging_agent,
  allow_receive_withdraw_requests,
  business_manager,
  agency_countries,
}: Omit<User, 'sessions_revoked_before'> & Pick<UserProfile, 'uid' | 'name' | 'avatar'>): string =>
  versionOfValues({
    uid,
    name,
    avatar,
    charging_agent,
    allow_receive_withdraw_requests,
    business_manager,
    agency_countries,
  })

/** The user who has a uid now. */
export const userUids = projection('user_uids', {
  uid: text(),
  user_id: integer(),
})

/** The user after a `user-defined` event. */
export const userAfter = (before: User | undefined, data: EventData<'user-defined'>): User => ({
  user_id: data.user_id,
  charging_agent: data.charging_agent === 1,
  allow_receive_withdraw_requests: data.allow_receive_withdraw_requests === 1,
  business_manager: data.business_manager === 1,
  agency_countries: data.agency_countries,
  sessions_revoked_before: before?.sessions_revoked_before ?? 0,
})

export const evolveUsers: Evolver = {
  'user-defined': (state, { data }) => {
    const id = String(data.user_id)
    const before = state.get(users, id)
    const after = userAfter(before, data)
    state.set(users, id, after)
    countRoles(state, [before, after])
  },
  'sessions-revoked': (state, { data }) => {
    const id = String(data.user_id)
    const user = state.get(users, id)
    if (user === undefined) throw new Error(`user ${id} does not exist`)
    state.set(users, id, { ...user, sessions_revoked_before: data.before })
  },
}
