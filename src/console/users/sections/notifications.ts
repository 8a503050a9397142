import type { InboxNotification } from '../../../../schema/notifications.ts'
import { notificationMapper } from '../../../domain.ts'
import { inboxLookup, inboxNotification } from '../../../features/notifications/reads.ts'
import { packageNames } from '../../../features/privilege/reads.ts'
import { userNames } from '../../../features/users/reads.ts'
import { notificationsOf } from '../../../notifications/event-notification.ts'
import { findNames } from '../../../notifications/notifier.ts'
import { textCell, timeCell } from '../../frame/cells.ts'
import { eventCell } from '../../frame/links.ts'
import { column, noFilters } from '../../lists/list.ts'
import { beforeOf, pageOfRows } from '../../lists/next-page.ts'
import { userIdIn } from '../find-user.ts'
import { defineUserSection } from '../user-section.ts'

const lookups = { users: userNames(() => ''), packages: packageNames }

export const notificationsSection = defineUserSection<typeof noFilters, InboxNotification>({
  path: 'notifications',
  lead: 'What was pushed to the user, in English and with present names.',
  label: 'Notifications',
  filters: noFilters,
  isOfNow: true,
  empty: 'Nothing was ever pushed to this user. What was done to the account is in its history.',
  columns: [
    column('id', 'Event', ({ id }) => eventCell(id)),
    column('created_at', 'Time', ({ created_at }) => timeCell(created_at)),
    column('title', 'Title', ({ title }) => textCell(title)),
    column('body', 'Text', ({ body }) => textCell(body)),
    column('read_at', 'Read', ({ read_at }) => timeCell(read_at)),
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
    return {
      rows: own.map(({ entry, notification }) => inboxNotification(entry, notification, names, 'en')),
      next: pageOfRows(entries, limit, ({ event }) => event.position).next,
    }
  },
})
