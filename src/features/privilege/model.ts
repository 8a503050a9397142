import type { TablesOf } from '../../db/tables.ts'
import { isolated } from '../../language/messages.ts'
import { nameIn, type StoredName } from '../../language/names.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { NotificationMapper, NotificationText } from '../../notifications/event-notification.ts'
import { type Model, refusalsWith } from '../model.ts'
import { cardCounts, cards, evolveCards } from './card.ts'
import { evolvePackages, packageCounts, packages } from './package.ts'
import { evolvePrivileges, privileges } from './privilege.ts'

/** Receivers of transferred cards are notified, with the current names of sender and package. */
const privilegeNotifications: NotificationMapper = {
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

const tables = [
  rowTable(packages, { key: ['privilege_package_id'] }),
  rowTable(packageCounts, { key: ['list'] }),
  rowTable(cards, { key: ['card_id'] }),
  rowTable(cardCounts, { key: ['user_id'] }),
  rowTable(privileges, { key: ['user_id'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Privilege packages, the cards of these packages, and active privileges. */
export const privilegeModel: Model = {
  evolvers: [evolvePackages, evolveCards, evolvePrivileges],
  notifications: privilegeNotifications,
  tables,
  refusals: {
    ...refusalsWith(403, {
      not_your_card: { en: 'This card belongs to another user.', ar: 'هذه البطاقة تخص مستخدمًا آخر.' },
    }),
    ...refusalsWith(422, {
      not_card_owner: { en: 'Only the owner of a card can send it.', ar: 'لا يمكن إرسال البطاقة إلا من مالكها.' },
      card_already_activated: { en: 'This card is already activated.', ar: 'سبق تفعيل هذه البطاقة.' },
      same_user: { en: 'You cannot send a card to yourself.', ar: 'لا يمكنك إرسال البطاقة إلى نفسك.' },
      too_few_days: {
        en: 'This card would add less than one day to the running privilege.',
        ar: 'ستضيف هذه البطاقة أقل من يوم واحد إلى امتيازك الحالي.',
      },
      validity_limit: {
        en: 'The privilege would last beyond the year 9999.',
        ar: 'ستمتد صلاحية الامتياز إلى ما بعد سنة 9999.',
      },
    }),
  },
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
