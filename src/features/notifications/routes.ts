import { Type } from '@sinclair/typebox'
import { Amount, Id, PageQuery } from '../../../schema/common.ts'
import { InboxPage, MarkedRead, MarkRead } from '../../../schema/notifications.ts'
import { userOf } from '../../http/auth/caller.ts'
import { pageBody, readPage, rowsThatFit } from '../../http/pages.ts'
import { languageOf } from '../../language/request-language.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import { type NotificationMapper, notificationsOf, renderNotification } from '../../notifications/event-notification.ts'
import { findNames, type NameLookups } from '../../notifications/notifier.ts'
import { type EventFrame, type FrameMapper, localizedFrame } from '../../realtime/frames/frame-mapper.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { markRead } from './mark-read.ts'
import { inboxLookup, inboxNotification, lastNotification } from './reads.ts'

/** Users' inboxes, with what the events of all slices tell them, and what they have read of it. */
export const createNotificationsSlice = (mapper: NotificationMapper, lookups: NameLookups): Slice => ({
  documentedPrefix: '/api/v1',
  configure: () => ({
    verbs: notificationVerbs,
    routes: (app, services) => notificationRoutes(app, services, mapper, lookups),
  }),
  frameMapper: notificationFrames(mapper),
})

const tags = ['notifications']

/** Client routes for a user's notifications. */
function notificationRoutes(
  app: App,
  { execute, db }: Services,
  mapper: NotificationMapper,
  lookups: NameLookups,
): void {
  const inbox = inboxLookup(db)

  app.get(
    '/notifications',
    {
      schema: {
        operationId: 'pageNotifications',
        summary: "The caller's notifications, newest first, and how many are unread",
        description:
          'All that was pushed to the devices of the caller, in the language of the request and with the names that people ' +
          'have now. Read ones stay.',
        tags,
        querystring: PageQuery,
        response: { 200: InboxPage },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      const user_id = userOf(request)
      const { entries, unread } = await inbox({ userId: user_id, limit: limit + 1, before: cursor?.[0] ?? null })
      const stored = entries.slice(0, limit)
      const notifications = stored.flatMap((entry) =>
        notificationsOf(mapper, entry.event)
          .filter((notification) => notification.user_id === user_id)
          .map((notification) => ({ entry, notification })),
      )
      const names = await findNames(
        db,
        lookups,
        notifications.map(({ notification }) => notification.namedIds),
      )
      const language = languageOf(request)
      const rows = notifications.map(({ entry, notification }) =>
        inboxNotification(entry, notification, names, language),
      )
      const data = rowsThatFit(rows)
      const last = data.at(-1)
      const endsEarly = last !== undefined && data.length < rows.length
      const page = endsEarly ? stored.filter(({ event }) => event.position >= last.id) : stored
      // By what is stored: the last entries of a page may be of events that notify nobody any more.
      const { meta } = pageBody(page, endsEarly || entries.length > limit, ({ event }) => [event.position])
      return { data: [...data], meta: { ...meta, unread } }
    },
  )

  app.post(
    '/notifications/read',
    {
      schema: {
        operationId: 'markNotificationsRead',
        summary: 'Mark the notifications of the caller as read, up to one of them; answers how many are unread',
        description:
          'Those that are read stay so: a lower `up_to` than before changes nothing. An `up_to` that is not the id of ' +
          'one of the notifications stands for the last one before it, so that a very high one marks all there are.',
        tags,
        body: MarkRead,
        response: { 200: MarkedRead },
        refusals: [],
      },
    },
    async (request, reply) => {
      const user_id = userOf(request)
      const last = await lastNotification(db, user_id, request.body.up_to)
      const input = { user_id, up_to: last?.position ?? 0, number: last?.number ?? 0 }
      await execute(request, reply, notificationVerbs.markRead, input, {
        request: { user_id, up_to: request.body.up_to },
      })
    },
  )
}

/** Sends users the same notifications over their sockets as to their devices. */
function notificationFrames(mapper: NotificationMapper): FrameMapper {
  const frames = (event: PositionedEvent): readonly EventFrame[] =>
    notificationsOf(mapper, event).map((notification) =>
      localizedFrame(`user:${notification.user_id}`, 'notification', notification.namedIds, (profiles, language) =>
        renderNotification(notification, profiles, language),
      ),
    )
  return Object.fromEntries(Object.keys(mapper).map((type) => [type, frames]))
}

/** The verb of notifications. */
const notificationVerbs = {
  markRead: registerVerb(
    'mark-notifications-read',
    inputSchema(Type.Object({ user_id: Id, up_to: Amount, number: Amount })),
    markRead,
    { body: (unread) => ({ meta: { unread } }) },
  ),
}
