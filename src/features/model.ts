import type { LocalizedText } from '../../schema/languages.ts'
import type { Refusals } from '../http/errors/refusals.ts'
import { httpMessages } from '../http/messages.ts'
import type { Evolver } from '../ledger/rules/event.ts'
import type { RowTable } from '../ledger/storage/row-table.ts'
import type { NotificationMapper } from '../notifications/event-notification.ts'

/** What a slice is made of. Loads no routes, frames or reads: audits need only this. */
export interface Model {
  /** What events mean for the slice's rows, events of other slices included. */
  readonly evolvers: readonly Evolver[]
  /** Whom its events tell what. */
  readonly notifications?: NotificationMapper
  /** The tables that the executor keeps of those rows. */
  readonly tables: readonly RowTable[]
  /** Its own refusal codes; those it shares with others are in `sharedRefusals`. */
  readonly refusals: Refusals
}

/** Refusals with one HTTP status: a sentence for each code. */
export const refusalsWith = (status: Refusals[string]['status'], messages: Record<string, LocalizedText>): Refusals =>
  Object.fromEntries(Object.entries(messages).map(([code, message]) => [code, { status, message }]))

/** Refusals of the ledger, and those of more than one slice. A slice's own are in its model. */
export const sharedRefusals = {
  not_found: { status: 404, message: httpMessages.not_found },
  validation_failed: { status: 422, message: httpMessages.validation_failed },
  idempotency_key_reused: {
    status: 422,
    message: {
      en: 'This idempotency key was used for another request.',
      ar: 'سبق استخدام قيمة Idempotency-Key هذه مع طلب آخر.',
    },
  },
  precondition_failed: {
    status: 412,
    message: {
      en: 'What is stored is not what this request expects: it was changed meanwhile, or exists already.',
      ar: 'البيانات المحفوظة ليست هي التي يتوقعها هذا الطلب: لقد تغيرت في هذه الأثناء أو أنها موجودة من قبل.',
    },
  },
  insufficient_balance: {
    status: 422,
    message: { en: 'The balance is not sufficient.', ar: 'الرصيد غير كافٍ.' },
  },
  balance_limit: {
    status: 422,
    message: {
      en: 'A balance would exceed the largest amount that can be held.',
      ar: 'سيتجاوز أحد الأرصدة أكبر مبلغ يمكن الاحتفاظ به.',
    },
  },
  holding_limit: {
    status: 422,
    message: {
      en:
        'A limit is reached: 2,000 stored cards and 2,000 kinds in a bag for a user, 500 gifts in the catalogue, ' +
        '500 countries, 500 privilege packages, 2,000 charging agents and 2,000 business managers.',
      ar:
        'تم بلوغ الحد الأقصى: 2,000 بطاقة محفوظة و2,000 نوع في الحقيبة لكل مستخدم، و500 هدية في قائمة الهدايا، ' +
        'و500 دولة، و500 باقة امتيازات، و2,000 وكيل شحن، و2,000 مدير أعمال.',
    },
  },
  user_forgotten: {
    status: 422,
    message: { en: 'The data of this user was erased.', ar: 'حُذفت بيانات هذا المستخدم.' },
  },
  not_room_member: {
    status: 403,
    message: { en: 'You are not a member of this room', ar: 'لست عضوًا في هذه الغرفة.' },
  },
} satisfies Refusals
