import type { EventWithoutMovements, Evolver } from '../ledger/rules/event.ts'
import { integer, type Key, keyOf, projection, type State, type WritableState } from '../ledger/rules/projection.ts'
import { type NotificationMapper, notificationsOf } from './event-notification.ts'

/** The notifications of a user: what they say is rendered from the event when they are read. */
export const notifications = projection('notifications', {
  user_id: integer(),
  /** The event's position. */
  position: integer(),
  /** Its place among the user's notifications, from 1. */
  number: integer(),
})

/** How many notifications a user has; no row for none. */
export const notificationCounts = projection('notification_counts', {
  user_id: integer(),
  notifications: integer(),
})

/** What a verb whose events tell a user something has to read, for the user's count. */
export const inboxKey = (userId: number): Key => keyOf(notificationCounts, userId)

/** How many notifications a user has. */
export const notificationCount = (state: State, userId: number): number =>
  state.get(notificationCounts, String(userId))?.notifications ?? 0

/** Lists what events tell users in these users' inboxes. */
export function createInboxEvolver(mapper: NotificationMapper): Evolver {
  const evolve = (state: WritableState, event: EventWithoutMovements): void => {
    for (const { user_id } of notificationsOf(mapper, event)) addNotification(state, user_id, event.position)
  }
  return Object.fromEntries(Object.keys(mapper).map((type) => [type, evolve]))
}

function addNotification(state: WritableState, user_id: number, position: number): void {
  const number = notificationCount(state, user_id) + 1
  state.set(notifications, `${user_id}:${position}`, { user_id, position, number })
  state.set(notificationCounts, String(user_id), { user_id, notifications: number })
}
