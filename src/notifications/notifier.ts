import type { Kysely } from 'kysely'
import type { Language } from '../../schema/languages.ts'
import type { Notification } from '../../schema/notifications.ts'
import type { Tables } from '../db/tables.ts'
import type { PositionedEvent } from '../ledger/rules/event.ts'
import {
  type NamedIds,
  type Names,
  type NotificationMapper,
  notificationsOf,
  renderNotification,
} from './event-notification.ts'

/** A notification, its receiver, and the position of its ledger event. */
export interface AddressedNotification {
  readonly position: number
  readonly user_id: number
  /** In each language that a device may have. */
  readonly notification: Readonly<Record<Language, Notification>>
}

/** The notifications of these events, in the events' order. */
export type Notifier = (
  db: Kysely<Tables>,
  events: readonly PositionedEvent[],
) => Promise<readonly AddressedNotification[]>

/** Composes the notifications of events with current names. */
export const createNotifier =
  (mapper: NotificationMapper, lookups: NameLookups): Notifier =>
  async (db, events) => {
    const notifications = events.flatMap((event) =>
      notificationsOf(mapper, event).map((notification) => ({ position: event.position, notification })),
    )
    if (notifications.length === 0) return []
    const names = await findNames(
      db,
      lookups,
      notifications.map(({ notification }) => notification.namedIds),
    )
    return notifications.map(({ position, notification }) => ({
      position,
      user_id: notification.user_id,
      notification: {
        en: renderNotification(notification, names, 'en'),
        ar: renderNotification(notification, names, 'ar'),
      },
    }))
  }

/** Leaves out the notifications that their users have read in the inbox meanwhile. */
export const unreadOnly =
  (notifier: Notifier): Notifier =>
  async (db, events) => {
    const composed = await notifier(db, events)
    if (composed.length === 0) return composed
    const marks = await db
      .selectFrom('notification_marks')
      .select(['user_id', 'up_to'])
      .where(
        'user_id',
        'in',
        composed.map(({ user_id }) => user_id),
      )
      .execute()
    const readUpTo = new Map(marks.map(({ user_id, up_to }) => [user_id, up_to]))
    return composed.filter(({ user_id, position }) => position > (readUpTo.get(user_id) ?? 0))
  }

type Lookup<Kind extends keyof Names> = (db: Kysely<Tables>, ids: readonly number[]) => Promise<Names[Kind]>

/** Reads the names that notifications show, by id. */
export type NameLookups = { readonly [Kind in keyof Names]: Lookup<Kind> }

/** The current names that some notifications show, with one query for each kind. */
export async function findNames(
  db: Kysely<Tables>,
  { users, packages }: NameLookups,
  wanted: readonly NamedIds[],
): Promise<Names> {
  const idsOf = (kind: keyof Names): number[] => [...new Set(wanted.flatMap((ids) => ids[kind] ?? []))]
  const [userNames, packageNames] = await Promise.all([
    find(db, users, idsOf('users')),
    find(db, packages, idsOf('packages')),
  ])
  return { users: userNames, packages: packageNames }
}

const find = async <Kind extends keyof Names>(
  db: Kysely<Tables>,
  lookup: Lookup<Kind>,
  ids: readonly number[],
): Promise<Names[Kind]> => (ids.length === 0 ? new Map() : lookup(db, ids))
