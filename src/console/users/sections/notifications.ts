import { Type } from '@sinclair/typebox'
import type { InboxNotification } from '../../../../schema/notifications.ts'
import { notificationMapper } from '../../../domain.ts'
import { inboxNotification } from '../../../features/notifications/presenters.ts'
import { inboxLookup } from '../../../features/notifications/reads.ts'
import { packageNames } from '../../../features/privilege/reads.ts'
import { userNames } from '../../../features/users/reads.ts'
import { encodeCursor } from '../../../http/pages.ts'
import { notificationsOf } from '../../../notifications/event-notification.ts'
import { findNames } from '../../../notifications/names.ts'
import { textCell, timeCell } from '../../frame/cells/cells.ts'
import { eventCell } from '../../frame/cells/links.ts'
import type { List } from '../../lists/list.ts'
import { userIdIn } from '../user/find-user.ts'
import { defineUserSection } from '../user/user-section.ts'
import { beforeOf } from './next-page.ts'

const lookups = { users: userNames(() => ''), packages: packageNames }

const filters = Type.Object({})

const notifications: List<typeof filters, InboxNotification> = {
  label: 'Notifications',
  filters,
  isOfNow: true,
  empty: 'Nothing was ever pushed to this user. What was done to the account is in its history.',
  columns: [
    { name: 'id', title: 'Event', cell: ({ id }) => eventCell(id) },
    { name: 'created_at', title: 'Time', cell: ({ created_at }) => timeCell(created_at) },
    { name: 'title', title: 'Title', cell: ({ title }) => textCell(title) },
    { name: 'body', title: 'Text', cell: ({ body }) => textCell(body) },
    { name: 'read_at', title: 'Read', cell: ({ read_at }) => timeCell(read_at) },
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const userId = userIdIn(request.params)
    const { entries } = await inboxLookup(db)({ userId, limit: limit + 1, before: beforeOf(cursor, at) })
    const page = entries.slice(0, limit)
    const own = page.flatMap((entry) =>
      notificationsOf(notificationMapper, entry.event)
        .filter(({ user_id }) => user_id === userId)
        .map((notification) => ({ entry, notification })),
    )
    const names = await findNames(
      db,
      lookups,
      own.map(({ notification }) => notification.namedIds),
    )
    const last = page.at(-1)
    return {
      rows: own.map(({ entry, notification }) => inboxNotification(entry, notification, names, 'en')),
      next: entries.length > limit && last !== undefined ? encodeCursor([last.event.position]) : null,
    }
  },
}

export const notificationsSection = defineUserSection(
  {
    path: 'notifications',
    title: 'Notifications',
    lead: 'What was pushed to the user, in English and with present names.',
  },
  notifications,
)
