import type { Kysely } from 'kysely'
import type { Notification } from '../../schema/notifications.ts'
import type { Tables } from '../db/tables.ts'
import type { PositionedEvent } from '../ledger/rules/event.ts'

/** A notification with whom it is for and the position of the event that it tells of. */
export interface AddressedNotification {
  readonly position: number
  readonly user_id: number
  readonly notification: Notification
}

/** What users are to be told of these events, in the events' order. */
export type Notifier = (
  db: Kysely<Tables>,
  events: readonly PositionedEvent[],
) => Promise<readonly AddressedNotification[]>

/** All that the slices have to tell. */
export const combineNotifiers =
  (notifiers: readonly Notifier[]): Notifier =>
  async (db, events) =>
    (await Promise.all(notifiers.map((notifier) => notifier(db, events)))).flat()
