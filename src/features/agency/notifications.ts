import type { EventData } from '../../../schema/events.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { isolated } from '../../language/messages.ts'
import { formatCount, formatDollars, type PluralForms } from '../../language/numbers.ts'
import type { EventNotification, NotificationMapper, NotificationText } from '../../notifications/event-notification.ts'

type StatusChange = EventData<'withdrawal-status-changed'>
type NewStatus = Exclude<StatusChange['to'], 'pending'>

/**
 * A withdrawal request notifies the user it is addressed to, and each change of its status the party that did not make
 * it; an instant transfer notifies its receiver. What a user does alone notifies nobody.
 * Nothing that people wrote about a request is in here.
 */
export const agencyNotifications: NotificationMapper = {
  'withdrawal-requested': ({ position, data: { user_id, target_id, amount } }) =>
    user_id === target_id
      ? []
      : [aboutWithdrawal(position, target_id, user_id, (requester) => requestReceived(requester, amount))],

  'withdrawal-status-changed': ({ data: { withdrawal_id, user_id, target_id, amount, to, by } }) => {
    if (to === 'pending' || user_id === target_id) return []
    const toRequester = aboutWithdrawal(withdrawal_id, user_id, target_id, (target) =>
      ownRequestChanged(to, by === 'target' ? target : null, amount),
    )
    const toTarget = aboutWithdrawal(withdrawal_id, target_id, user_id, (requester) =>
      by === 'requester' ? requestCancelled(requester, amount) : receivedRequestChanged(to, requester, amount),
    )
    return [...(by === 'requester' ? [] : [toRequester]), ...(by === 'target' ? [] : [toTarget])]
  },

  'instant-transfer-made': ({ data: { user_id, receiver_id, diamonds } }) =>
    user_id === receiver_id
      ? []
      : [
          {
            user_id: receiver_id,
            type: 'reward',
            identifier: 'instant-transfer',
            namedIds: { users: [user_id] },
            text: ({ users }) => diamondsReceived(users.get(user_id)?.name ?? '', diamonds),
          },
        ],
}

/** `text` gets the name of the other party; empty when it is unknown or was erased. */
const aboutWithdrawal = (
  withdrawal_id: number,
  user_id: number,
  other_id: number,
  text: (other: string) => NotificationText,
): EventNotification => ({
  user_id,
  type: 'withdrawal',
  identifier: 'agency-withdrawal',
  withdrawal_id,
  namedIds: { users: [other_id] },
  text: ({ users }) => text(users.get(other_id)?.name ?? ''),
})

const titles: Readonly<Record<NewStatus, LocalizedText>> = {
  approved: { en: 'Withdrawal approved', ar: 'تمت الموافقة على السحب' },
  rejected: { en: 'Withdrawal rejected', ar: 'رُفض طلب السحب' },
  transferred: { en: 'Withdrawal transferred', ar: 'حُوِّل مبلغ السحب' },
}

const arabicChanges: Readonly<Record<NewStatus, string>> = {
  approved: 'تمت الموافقة على',
  rejected: 'رُفض',
  transferred: 'حُوِّل مبلغ',
}

const requestReceived = (requester: string, amount: number): NotificationText => ({
  title: { en: 'New withdrawal request', ar: 'طلب سحب جديد' },
  body: {
    en: `${requester || 'Somebody'} sent you a withdrawal request for ${formatDollars('en', amount)}.`,
    ar: `وصلك طلب سحب بمبلغ ${formatDollars('ar', amount)}${from(requester)}.`,
  },
})

/** `target`: the agent or manager who made the change; null when staff did. */
const ownRequestChanged = (to: NewStatus, target: string | null, amount: number): NotificationText => ({
  title: titles[to],
  body: {
    en:
      target === null
        ? `Your withdrawal of ${formatDollars('en', amount)} was ${to}.`
        : `${target || 'Somebody'} ${to} your withdrawal of ${formatDollars('en', amount)}.`,
    ar: `${arabicChanges[to]} طلبك للسحب بقيمة ${formatDollars('ar', amount)}${target ? ` من قِبل ${isolated(target)}` : ''}.`,
  },
})

const receivedRequestChanged = (to: NewStatus, requester: string, amount: number): NotificationText => ({
  title: titles[to],
  body: {
    en: `The withdrawal of ${formatDollars('en', amount)} that ${requester || 'somebody'} requested from you was ${to}.`,
    ar: `${arabicChanges[to]} طلب السحب بقيمة ${formatDollars('ar', amount)} الوارد إليك${from(requester)}.`,
  },
})

const requestCancelled = (requester: string, amount: number): NotificationText => ({
  title: { en: 'Withdrawal request cancelled', ar: 'أُلغي طلب السحب' },
  body: {
    en: `${requester || 'Somebody'} cancelled the withdrawal request for ${formatDollars('en', amount)}.`,
    ar: `أُلغي طلب السحب بقيمة ${formatDollars('ar', amount)} الوارد إليك${from(requester)}.`,
  },
})

/** After «وصلتك», of which it is the subject. */
const diamonds: PluralForms = {
  en: { one: '# diamond', other: '# diamonds' },
  ar: { zero: '# ماسة', one: 'ماسة واحدة', two: 'ماستان', few: '# ماسات', many: '# ماسة', other: '# ماسة' },
}

const diamondsReceived = (sender: string, count: number): NotificationText => ({
  title: { en: 'Diamonds received', ar: 'وصلتك ماسات جديدة' },
  body: {
    en: `${sender || 'Somebody'} sent you ${formatCount('en', count, diamonds)}.`,
    ar: `وصلتك ${formatCount('ar', count, diamonds)}${from(sender)}.`,
  },
})

const from = (name: string): string => (name === '' ? '' : ` من ${isolated(name)}`)
