import {
  integer,
  type Key,
  keyOf,
  projection,
  type State,
  text,
  type WritableState,
} from '../../ledger/rules/projection.ts'

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
export type RoleChange = readonly [before: RoleFlags | undefined, after: RoleFlags]

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
export function countRoles(state: WritableState, change: RoleChange): void {
  for (const role of roleNames) {
    const added = changeOf(role, change)
    if (added === 0) continue
    const users = countOf(state, role) + added
    state.set(roleCounts, role, users === 0 ? undefined : { role, users })
  }
}
