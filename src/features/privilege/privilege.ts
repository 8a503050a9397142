import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { Seconds } from './validity.ts'

/** A user's latest privilege, active or expired. */
export interface Privilege {
  readonly user_id: number
  readonly privilege_package_id: number
  /** The package's rank when the card that started this privilege was activated. */
  readonly rank: number
  readonly valid_until: Seconds
}

export const privileges = projection<Privilege>('privileges')

/** The privilege if it is active at this moment; it expires at `valid_until`. */
export const activePrivilege = (privilege: Privilege | undefined, now: Micros): Privilege | undefined =>
  privilege !== undefined && now < privilege.valid_until * 1_000_000 ? privilege : undefined

export const evolvePrivileges: Evolver = {
  'privilege-days-added': (state, { data: { user_id, privilege_package_id, rank, valid_until } }) => {
    state.set(privileges, String(user_id), { user_id, privilege_package_id, rank, valid_until })
  },
  'privilege-replaced': (state, { data: { user_id, privilege_package_id, rank, valid_until } }) => {
    state.set(privileges, String(user_id), { user_id, privilege_package_id, rank, valid_until })
  },
}
