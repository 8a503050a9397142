import type { Notification } from '../../../schema/notifications.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Notifier } from '../../notifications/notifier.ts'
import { userAndPackageNames } from './reads.ts'

/** Notifies receivers of transferred cards, with the current names of sender and package. */
export const privilegeNotifier: Notifier = async (db, events) => {
  const moved = events.filter((event): event is PositionedEvent<'card-moved'> => event.type === 'card-moved')
  if (moved.length === 0) return []
  const senders = moved.map(({ data }) => data.from_user_id)
  const packages = moved.map(({ data }) => data.privilege_package_id)
  const names = await userAndPackageNames(db, senders, packages)
  return moved.map(({ position, data: { from_user_id, to_user_id, privilege_package_id } }) => ({
    position,
    user_id: to_user_id,
    notification: cardReceivedNotification(names.users.get(from_user_id), names.packages.get(privilege_package_id)),
  }))
}

/** The notification of a received card; names that are unknown or redacted have neutral defaults. */
export const cardReceivedNotification = (sender = '', name = 'a privilege'): Notification => ({
  title: 'New privilege',
  body: `${sender === '' ? 'Somebody' : sender} sent ${name} to your privilege wallet.`,
  type: 'reward',
  identifier: 'privilege-package-wallet',
})
