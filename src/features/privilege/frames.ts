import { announcement } from '../../realtime/frames/announcement.ts'
import type { Announcer } from '../../realtime/frames/announcer.ts'
import { cardReceived } from './notifier.ts'

/** Whoever receives a card is told on their sockets what their devices are told. */
export const announceCards: Announcer = {
  'card-moved': ({ data: { from_user_id, to_user_id, privilege_package_id } }) => [
    announcement(
      `user:${to_user_id}`,
      'notification',
      { users: [from_user_id], packages: [privilege_package_id] },
      ({ users, packages }) => cardReceived(users.get(from_user_id)?.name, packages.get(privilege_package_id)?.name),
    ),
  ],
}
