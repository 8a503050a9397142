import { withdrawals } from '../features/agency/withdrawals/withdrawal.ts'
import { readMarks } from '../features/notifications/mark-read.ts'
import { devices, devicesOfUsers, dropDevice } from '../features/users/device.ts'
import {
  isErased,
  roleCountKeys,
  type User,
  type UserProfile,
  userProfiles,
  users,
  userUids,
} from '../features/users/user.ts'
import { foldedNames } from '../language/names.ts'
import { account, holds } from '../ledger/rules/account.ts'
import type { LedgerEvent } from '../ledger/rules/event.ts'
import { keyOf, type State } from '../ledger/rules/projection.ts'
import { refuse, type Verb } from '../ledger/rules/verb.ts'

export interface EraseProfile {
  readonly user_id: number
  /** From `erasedUid`; used if the profile is not erased yet. */
  readonly new_uid: string
  /** The user's requests that were open when they were read. */
  readonly withdrawal_ids: readonly number[]
  /** The tokens of the user's devices. */
  readonly devices: readonly string[]
}

const dollarAccounts = ({ user_id }: EraseProfile) =>
  (['dollars', 'agent_dollars'] as const).map((currency) => account('user', user_id, currency))

const refusals = ['not_found', 'withdrawal_open'] as const

/**
 * Erases a user's profile, removes their devices and the mark of what they have read, and ends their roles of agent and
 * manager; balances and history stay. Writes no event if nothing of this is left to do. Refusals, in this order: `not_found`, `withdrawal_open`.
 */
export const eraseProfile: Verb<EraseProfile, null, typeof refusals> = {
  refusals,
  reads: (input) => [
    ...roleCountKeys,
    keyOf(users, input.user_id),
    keyOf(userProfiles, input.user_id),
    keyOf(devicesOfUsers, input.user_id),
    keyOf(readMarks, input.user_id),
    keyOf(userUids, input.new_uid),
    ...dollarAccounts(input).map((name) => keyOf(holds, name)),
    ...input.withdrawal_ids.map((id) => keyOf(withdrawals, id)),
    ...input.devices.map((token) => keyOf(devices, token)),
  ],

  dependentReads: (state, { user_id }) => {
    const profile = state.get(userProfiles, String(user_id))
    return profile === undefined ? [] : [keyOf(userUids, profile.uid)]
  },

  decide(state, input) {
    const user = state.get(users, String(input.user_id))
    if (user === undefined) return refuse('not_found')
    if (hasOpenWithdrawal(state, input)) return refuse('withdrawal_open')
    return [...roleRemoval(user), ...(isDone(state, input) ? [] : [erasedEvent(input)])]
  },

  sideWrites(state, input, { now, actor }) {
    for (const token of input.devices) {
      if (state.get(devices, token)?.user_id === input.user_id) dropDevice(state, input.user_id, token)
    }
    state.set(readMarks, String(input.user_id), undefined)
    const before = profileOf(state, input)
    if (before === undefined || isDone(state, input)) return
    const uid = input.new_uid
    if (state.get(userUids, uid) !== undefined) throw new Error(`the new uid of user ${input.user_id} is taken`)
    state.set(userUids, before.uid, undefined)
    state.set(userUids, uid, { uid, user_id: input.user_id })
    const erased = { ...before, uid, name: '', avatar: '', updated_at: now, updated_by: actor }
    state.set(userProfiles, String(input.user_id), { ...erased, ...foldedNames(erased) })
  },

  result: () => null,
}

const erasedEvent = ({ user_id }: EraseProfile): LedgerEvent => ({
  type: 'user-forgotten',
  data: { user_id },
  movements: [],
})

/** Nobody can ask an erased agent or manager any more; operators decide on the requests that are left. */
function roleRemoval({
  user_id,
  charging_agent,
  allow_receive_withdraw_requests,
  business_manager,
  agency_countries,
}: User): readonly LedgerEvent[] {
  const hasRole = charging_agent || allow_receive_withdraw_requests || business_manager || agency_countries.length > 0
  const none = { charging_agent: 0, allow_receive_withdraw_requests: 0, business_manager: 0 } as const
  return hasRole ? [{ type: 'user-defined', data: { user_id, ...none, agency_countries: [] }, movements: [] }] : []
}

const profileOf = (state: State, { user_id }: EraseProfile): UserProfile | undefined =>
  state.get(userProfiles, String(user_id))

/** Also finds a request made after `withdrawal_ids` were read: a pending request has a hold on a wallet. */
const hasOpenWithdrawal = (state: State, input: EraseProfile): boolean =>
  dollarAccounts(input).some((name) => (state.get(holds, name)?.held ?? 0n) > 0n) ||
  input.withdrawal_ids.some((id) => ['pending', 'approved'].includes(state.get(withdrawals, String(id))?.status ?? ''))

function isDone(state: State, input: EraseProfile): boolean {
  const profile = profileOf(state, input)
  return profile === undefined || isErased(profile)
}
