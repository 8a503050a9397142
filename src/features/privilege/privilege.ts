import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, projection, type RowOf } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

/** A user's latest privilege, active or expired. */
export const privileges = projection('privileges', {
  user_id: integer(),
  privilege_package_id: integer(),
  /** The package's rank when the card that started this privilege was activated. */
  rank: integer(),
  /** Seconds since 1970. */
  valid_until: integer(),
})

export type Privilege = RowOf<typeof privileges>

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
