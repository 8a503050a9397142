import type { NotificationMapper } from '../../notifications/event-notification.ts'
import type { NameLookups } from '../../notifications/names.ts'
import type { Slice } from '../slice.ts'
import { notificationFrames } from './frames.ts'
import { notificationRoutes } from './routes.ts'
import { notificationVerbs } from './verbs.ts'

/** Users' inboxes, with what the events of all slices tell them, and what they have read of it. */
export const createNotificationsSlice = (mapper: NotificationMapper, lookups: NameLookups): Slice => ({
  documentedPrefix: '/api/v1',
  configure: () => ({
    verbs: notificationVerbs,
    routes: (app, services) => notificationRoutes(app, services, mapper, lookups),
  }),
  frameMapper: notificationFrames(mapper),
})
