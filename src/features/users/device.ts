import type { Language } from '../../../schema/languages.ts'
import {
  integer,
  json,
  keyOf,
  micros,
  projection,
  type RowOf,
  type State,
  text,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'

/** A device that receives a user's push notifications; profile data, which is not part of the ledger. */
export const devices = projection('devices', {
  token: text(),
  /** The user who registered the token last. */
  user_id: integer(),
  platform: text<'android' | 'ios'>(),
  /** The language of its push notifications. */
  language: text<Language>(),
  registered_at: micros(),
})

export type UserDevice = RowOf<typeof devices>

/** Devices per user; one more replaces the one registered first. */
const MAX_DEVICES = 20

export const devicesOfUsers = projection('user_devices', {
  user_id: integer(),
  /** Most recently registered first. */
  tokens: json<readonly string[]>(),
})

const tokensOf = (state: State, userId: number): readonly string[] =>
  state.get(devicesOfUsers, String(userId))?.tokens ?? []

/** Removes a token from the user's devices. */
export function dropDevice(state: WritableState, user_id: number, token: string): void {
  const tokens = tokensOf(state, user_id).filter((other) => other !== token)
  state.set(devicesOfUsers, String(user_id), { user_id, tokens })
  state.set(devices, token, undefined)
}

interface RegisterDevice {
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
  sideWrites(state, { user_id, token, platform, language }, { now }) {
    const before = state.get(devices, token)
    if (before !== undefined) dropDevice(state, before.user_id, token)
    const tokens = [token, ...tokensOf(state, user_id)]
    for (const oldest of tokens.slice(MAX_DEVICES)) state.set(devices, oldest, undefined)
    state.set(devicesOfUsers, String(user_id), { user_id, tokens: tokens.slice(0, MAX_DEVICES) })
    state.set(devices, token, { token, user_id, platform, language, registered_at: now })
  },
  result: (_state, { platform, language }, _events, { now }) => ({ platform, language, registered_at: now }),
}

/** Stops notifications to a device of the user. Refusal: `not_found`, also for another user's token. */
export const removeDevice: Verb<Pick<RegisterDevice, 'user_id' | 'token'>, null, readonly ['not_found']> = {
  refusals: ['not_found'],
  reads: ({ user_id, token }) => [keyOf(devices, token), keyOf(devicesOfUsers, user_id)],
  decide: (state, { user_id, token }) => (state.get(devices, token)?.user_id === user_id ? [] : refuse('not_found')),
  sideWrites: (state, { user_id, token }) => dropDevice(state, user_id, token),
  result: () => null,
}
