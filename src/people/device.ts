import type { Platform } from '../../schema/devices.ts'
import { projection } from '../ledger/state.ts'
import type { Micros } from '../ledger/time.ts'

/** Where a user can be told something. Words: beside the ledger. */
export interface UserDevice {
  readonly token: string
  /** Whoever registered the token last. */
  readonly user_id: number
  readonly platform: Platform
  readonly registered_at: Micros
}

export const devices = projection<UserDevice>('devices')
