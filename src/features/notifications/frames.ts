import type { PositionedEvent } from '../../ledger/rules/event.ts'
import { type NotificationMapper, notificationsOf, renderNotification } from '../../notifications/event-notification.ts'
import { type EventFrame, type FrameMapper, localizedFrame } from '../../realtime/frames/frame-mapper.ts'

/** Sends users the same notifications over their sockets as to their devices. */
export function notificationFrames(mapper: NotificationMapper): FrameMapper {
  const frames = (event: PositionedEvent): readonly EventFrame[] =>
    notificationsOf(mapper, event).map((notification) =>
      localizedFrame(`user:${notification.user_id}`, 'notification', notification.namedIds, (profiles, language) =>
        renderNotification(notification, profiles, language),
      ),
    )
  return Object.fromEntries(Object.keys(mapper).map((type) => [type, frames]))
}
