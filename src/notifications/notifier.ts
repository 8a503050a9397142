import type { Kysely } from 'kysely'
import type { Notification } from '../../schema/notifications.ts'
import type { Tables } from '../db/tables.ts'
import type { PositionedEvent } from '../ledger/rules/event.ts'

/** A notification, its receiver, and the position of its ledger event. */
export interface AddressedNotification {
  readonly position: number
  readonly user_id: number
  readonly notification: Notification
}

/** The notifications of these events, in the events' order. */
export type Notifier = (
  db: Kysely<Tables>,
  events: readonly PositionedEvent[],
) => Promise<readonly AddressedNotification[]>

/** Combines the slices' notifiers. */
export const combineNotifiers =
  (notifiers: readonly Notifier[]): Notifier =>
  async (db, events) =>
    (await Promise.all(notifiers.map((notifier) => notifier(db, events)))).flat()
