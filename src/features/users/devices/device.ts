import type { Platform } from '../../../../schema/devices.ts'
import type { Language } from '../../../../schema/languages.ts'
import {
  integer,
  json,
  micros,
  projection,
  type RowOf,
  type State,
  text,
  type WritableState,
} from '../../../ledger/rules/projection.ts'

/** A device that receives a user's push notifications; profile data, which is not part of the ledger. */
export const devices = projection('devices', {
  token: text(),
  /** The user who registered the token last. */
  user_id: integer(),
  platform: text<Platform>(),
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

/** Stores a device as its user's newest and removes those beyond the limit. */
export function putDevice(state: WritableState, device: UserDevice): void {
  const { token, user_id } = device
  const before = state.get(devices, token)
  if (before !== undefined) dropDevice(state, before.user_id, token)
  const tokens = [token, ...tokensOf(state, user_id)]
  for (const oldest of tokens.slice(MAX_DEVICES)) state.set(devices, oldest, undefined)
  state.set(devicesOfUsers, String(user_id), { user_id, tokens: tokens.slice(0, MAX_DEVICES) })
  state.set(devices, token, device)
}
