import { keyOf } from '../../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { devices, devicesOfUsers, dropDevice } from './device.ts'

export interface RemoveDevice {
  readonly user_id: number
  readonly token: string
}

const refusals = ['not_found'] as const

/** Stops notifications to a device of the user. Refusal: `not_found`, also for another user's token. */
export const removeDevice: Verb<RemoveDevice, null, typeof refusals> = {
  refusals,
  reads: ({ user_id, token }) => [keyOf(devices, token), keyOf(devicesOfUsers, user_id)],
  decide: (state, { user_id, token }) => (state.get(devices, token)?.user_id === user_id ? [] : refuse('not_found')),
  sideWrites: (state, { user_id, token }) => dropDevice(state, user_id, token),
  result: () => null,
}
