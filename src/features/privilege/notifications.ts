import { isolated } from '../../language/messages.ts'
import type { StoredName } from '../../language/names.ts'
import { nameIn } from '../../language/names.ts'
import type { NotificationMapper, NotificationText } from '../../notifications/event-notification.ts'

/** Receivers of transferred cards are notified, with the current names of sender and package. */
export const privilegeNotifications: NotificationMapper = {
  'card-moved': ({ data: { from_user_id, to_user_id, privilege_package_id } }) => [
    {
      user_id: to_user_id,
      type: 'reward',
      identifier: 'privilege-package-wallet',
      namedIds: { users: [from_user_id], packages: [privilege_package_id] },
      text: ({ users, packages }) =>
        cardReceived(users.get(from_user_id)?.name ?? '', packages.get(privilege_package_id) ?? unnamed),
    },
  ],
}

const unnamed: StoredName = { name: '', name_ar: null }

/** Names that are unknown or were erased are empty. */
function cardReceived(sender: string, given: StoredName): NotificationText {
  const arabicName = nameIn(given, 'ar')
  const privilege = arabicName === '' ? 'امتياز' : `امتياز ${isolated(arabicName)}`
  const from = sender === '' ? '' : ` من ${isolated(sender)}`
  return {
    title: { en: 'New privilege', ar: 'امتياز جديد' },
    body: {
      en: `${sender || 'Somebody'} sent ${nameIn(given, 'en') || 'a privilege'} to your privilege wallet.`,
      ar: `وصلك ${privilege}${from}، وتجده في محفظة امتيازاتك.`,
    },
  }
}
