import type { AgencyCountry } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

/** Ledger data of a user: what rules about value depend on. */
export interface User {
  readonly user_id: number
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
  readonly agency_countries: readonly AgencyCountry[]
  /** Tokens issued before this second are expired; 0 when sessions were never revoked. */
  readonly sessions_revoked_before: number
}

/** Profile data, which is not part of the ledger. */
export interface UserProfile {
  readonly user_id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
  readonly created_at: Micros
  readonly updated_at: Micros
  readonly updated_by: string
}

export interface UserUid {
  readonly uid: string
  readonly user_id: number
}

/** A user exists from the first `user-defined` event on. */
export const users = projection<User>('users')
export const userProfiles = projection<UserProfile>('user_profiles')
/** The user who has a uid now. */
export const userUids = projection<UserUid>('user_uids')

export const evolveUsers: Evolver = {
  'user-defined': (state, { data }) => {
    const id = String(data.user_id)
    state.set(users, id, {
      user_id: data.user_id,
      charging_agent: data.charging_agent === 1,
      allow_receive_withdraw_requests: data.allow_receive_withdraw_requests === 1,
      business_manager: data.business_manager === 1,
      agency_countries: data.agency_countries,
      sessions_revoked_before: state.get(users, id)?.sessions_revoked_before ?? 0,
    })
  },
  'sessions-revoked': (state, { data }) => {
    const id = String(data.user_id)
    const user = state.get(users, id)
    if (user === undefined) throw new Error(`user ${id} does not exist`)
    state.set(users, id, { ...user, sessions_revoked_before: data.before })
  },
}
