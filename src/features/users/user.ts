import type { AgencyCountry, EventData } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import {
  boolean,
  integer,
  json,
  type Key,
  keyOf,
  micros,
  projection,
  type RowOf,
  type State,
  text,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import { versionOfValues } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'

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

interface RevokeSessions {
  readonly user_id: number
}

const refusals = ['not_found'] as const

/**
 * Expires all tokens of a user that were issued before this second. Tokens of the same second stay valid: they may be from
 * the next login. Refusal: `not_found`.
 */
export const revokeSessions: Verb<
  RevokeSessions,
  Pick<User, 'user_id' | 'sessions_revoked_before'>,
  typeof refusals
> = {
  refusals,
  reads: ({ user_id }) => [keyOf(users, user_id)],

  decide(state, { user_id }, { now }) {
    if (state.get(users, String(user_id)) === undefined) return refuse('not_found')
    return [{ type: 'sessions-revoked', data: { user_id, before: Math.floor(now / 1_000_000) }, movements: [] }]
  },

  result(state, { user_id }) {
    const user = state.get(users, String(user_id))
    if (user === undefined) throw new Error(`user ${user_id} is not known`)
    return user
  },
}

/** The flags of a user that make an agent or a manager. */
interface RoleFlags {
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
}

/** Roles whose users any client may list, without paging. */
const listedRoles = {
  charging_agents: (user: RoleFlags) => user.charging_agent && user.allow_receive_withdraw_requests,
  business_managers: (user: RoleFlags) => user.business_manager,
} as const

type ListedRole = keyof typeof listedRoles

const roleNames: readonly ListedRole[] = ['charging_agents', 'business_managers']

/** Users who have a listed role. Limited because they are answered without paging. */
export const MAX_USERS_OF_ROLE = 2_000

/** How many users have a listed role; no row where nobody does. */
export const roleCounts = projection('role_counts', {
  role: text<ListedRole>(),
  users: integer(),
})

/** The rows that tell whether a listed role has room, and that change with its users. */
export const roleCountKeys: readonly Key[] = roleNames.map((role) => keyOf(roleCounts, role))

const countOf = (state: State, role: ListedRole): number => state.get(roleCounts, role)?.users ?? 0

/** A user's flags before (undefined for a new user) and after a definition. */
type RoleChange = readonly [before: RoleFlags | undefined, after: RoleFlags]

function changeOf(role: ListedRole, [before, after]: RoleChange): number {
  const hasRole = listedRoles[role]
  return Number(hasRole(after)) - Number(before !== undefined && hasRole(before))
}

/** Whether users of different ids can change like this. Who only leaves a role always can, also beyond the limit. */
export const haveRoom = (state: State, changes: readonly RoleChange[]): boolean =>
  roleNames.every((role) => {
    const added = changes.reduce((sum, change) => sum + changeOf(role, change), 0)
    return added <= 0 || countOf(state, role) + added <= MAX_USERS_OF_ROLE
  })

/** Counts a changed user. */
function countRoles(state: WritableState, change: RoleChange): void {
  for (const role of roleNames) {
    const added = changeOf(role, change)
    if (added === 0) continue
    const users = countOf(state, role) + added
    state.set(roleCounts, role, users === 0 ? undefined : { role, users })
  }
}
