import { keyOf } from '../../../ledger/rules/projection.ts'
import type { Verb } from '../../../ledger/rules/verb.ts'
import { devices, devicesOfUsers, putDevice, type UserDevice } from './device.ts'

export interface RegisterDevice {
  readonly user_id: number
  readonly token: string
  readonly platform: UserDevice['platform']
  readonly language: UserDevice['language']
}

/**
 * Assigns a push token to this user, also one of another user. Beyond the limit the user's oldest device is removed.
 * Writes no event, and the reply, which is stored for retries, does not contain the token.
 */
export const registerDevice: Verb<RegisterDevice, Pick<UserDevice, 'platform' | 'language' | 'registered_at'>> = {
  refusals: [],
  reads: ({ user_id, token }) => [keyOf(devices, token), keyOf(devicesOfUsers, user_id)],
  dependentReads: (state, { token }) => {
    const device = state.get(devices, token)
    return device === undefined ? [] : [keyOf(devicesOfUsers, device.user_id)]
  },
  decide: () => [],
  sideWrites: (state, { user_id, token, platform, language }, { now }) =>
    putDevice(state, { token, user_id, platform, language, registered_at: now }),
  result: (_state, { platform, language }, _events, { now }) => ({ platform, language, registered_at: now }),
}
