import { type Static, Type } from '@sinclair/typebox'
import { Id, Instant, PageMeta } from './common.ts'
import { named } from './named.ts'

/** A notification, sent to a user's devices and on their own channel. */
export const Notification = named(
  'Notification',
  Type.Object(
    {
      title: Type.String(),
      body: Type.String(),
      type: Type.Union([Type.Literal('reward'), Type.Literal('withdrawal')], {
        description: 'where the app shows it',
      }),
      identifier: Type.Union(
        [Type.Literal('privilege-package-wallet'), Type.Literal('instant-transfer'), Type.Literal('agency-withdrawal')],
        {
          description:
            'what it is about: a received privilege card, a received instant transfer, or a request for a withdrawal or a ' +
            'change of its status',
        },
      ),
      withdrawal_id: Type.Optional({ ...Id, description: 'of an agency-withdrawal: the request' }),
    },
    { description: 'What a user is notified of, by push and on the own channel' },
  ),
)
export type Notification = Static<typeof Notification>

/** A notification in its user's inbox. */
export const InboxNotification = named(
  'InboxNotification',
  Type.Object({
    id: {
      ...Id,
      description: 'position of the event, as in the `notification` frame of the websocket; higher is newer',
    },
    ...Notification.properties,
    created_at: Instant,
    read_at: Type.Union([Instant, Type.Null()], { description: 'null while it is unread' }),
  }),
)
export type InboxNotification = Static<typeof InboxNotification>

const Unread = Type.Integer({ minimum: 0, description: 'unread notifications in the whole inbox' })

export const InboxPage = named(
  'InboxPage',
  Type.Object(
    {
      data: Type.Array(InboxNotification),
      meta: Type.Object({ ...PageMeta.properties, unread: Unread }),
    },
    { description: 'A page of notifications; meta.next_cursor leads to the next page' },
  ),
)

export const MarkRead = named(
  'NotificationsRead',
  Type.Object({
    up_to: { ...Id, description: 'id of the newest notification that was read; all older ones count as read, too' },
  }),
)
export const MarkedRead = named(
  'NotificationsMarked',
  Type.Object({ meta: Type.Object({ unread: Unread }) }, { description: 'How many notifications are unread now' }),
)
