import type { Kysely } from 'kysely'
import type { Notification } from '../../schema/notifications.ts'
import type { Tables } from '../db/tables.ts'
import type { PositionedEvent } from '../ledger/rules/event.ts'

/** A notification with whom it is for and the position of the event that it tells of. */
export interface Addressed {
  readonly position: number
  readonly user_id: number
  readonly notification: Notification
}

/** What users are to be told of these events, in the events' order. */
export type Notifier = (db: Kysely<Tables>, events: readonly PositionedEvent[]) => Promise<readonly Addressed[]>

/** All that the slices have to tell. */
export const together =
  (notifiers: readonly Notifier[]): Notifier =>
  async (db, events) =>
    (await Promise.all(notifiers.map((notifier) => notifier(db, events)))).flat()
