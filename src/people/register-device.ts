import type { Device, Platform } from '../../schema/devices.ts'
import type { Verb } from '../ledger/decider.ts'
import { keyOf } from '../ledger/state.ts'
import { isoMicros } from '../ledger/time.ts'
import { devices } from './device.ts'

export interface RegisterDevice {
  readonly user_id: number
  readonly token: string
  readonly platform: Platform
}

/** From now on the token is this user's, whoever had it before. No event, and the answer, which may be remembered, is without the token. */
export const registerDevice: Verb<RegisterDevice, Device> = {
  reads: ({ token }) => [keyOf(devices, token)],
  decide: () => [],
  note: (state, { user_id, token, platform }, { now }) =>
    state.set(devices, token, { token, user_id, platform, registered_at: now }),
  answer: (_state, { platform }, _events, { now }) => ({ platform, created_at: isoMicros(now) }),
}
