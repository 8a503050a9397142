import { eventFrame, type FrameMapper } from '../../realtime/frames/frame-mapper.ts'
import { cardReceivedNotification } from './notifier.ts'

/** Sends receivers of cards the same notification over their sockets as to their devices. */
export const cardFrames: FrameMapper = {
  'card-moved': ({ data: { from_user_id, to_user_id, privilege_package_id } }) => [
    eventFrame(
      `user:${to_user_id}`,
      'notification',
      { users: [from_user_id], packages: [privilege_package_id] },
      ({ users, packages }) =>
        cardReceivedNotification(users.get(from_user_id)?.name, packages.get(privilege_package_id)?.name),
    ),
  ],
}
