import type { Kysely } from 'kysely'
import { micros } from '../../../db/queries/micros.ts'
import type { Tables } from '../../../db/tables.ts'
import type { Micros } from '../../../ledger/rules/time.ts'

/** A device to which notifications are pushed. Its token is personal, and shown to nobody. */
export interface DeviceRow {
  readonly platform: string
  readonly language: string
  readonly registered_at: Micros
}

/** More than a user can have. */
const MAX_SHOWN = 50

export const devicesOf = (db: Kysely<Tables>, user: number): Promise<DeviceRow[]> =>
  db
    .selectFrom('devices')
    .select(['platform', 'language', micros('registered_at').as('registered_at')])
    .where('user_id', '=', user)
    .orderBy('registered_at', 'desc')
    .limit(MAX_SHOWN)
    .execute()
