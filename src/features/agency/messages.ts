import type { Messages } from '../../language/messages.ts'
import { centsToDollars } from '../../ledger/rules/money.ts'

/** What clients and operators read about withdrawals, instant transfers and salaries. */
export const agencyMessages = {
  other_user: { en: 'This must be another user.', ar: 'يجب اختيار مستخدم آخر غيرك.' },
  not_a_manager: { en: 'This user is not a business manager.', ar: 'هذا المستخدم ليس مدير أعمال.' },
  not_an_agent: { en: 'This user is not a charging agent.', ar: 'هذا المستخدم ليس وكيل شحن.' },
  accepts_no_requests: { en: 'This agent does not accept requests.', ar: 'هذا الوكيل لا يستقبل الطلبات.' },
  country_not_served: { en: 'This agent does not serve this country.', ar: 'هذا الوكيل لا يخدم هذه الدولة.' },
  dollars_rule: (minCents: number) => ({
    en: `The value must be dollars from ${centsToDollars(minCents).rawJSON}, with at most 13 digits before and 2 after the point.`,
    ar: `يجب أن تكون القيمة مبلغًا بالدولار لا يقل عن ${centsToDollars(minCents).rawJSON}، بما لا يزيد على 13 رقمًا قبل الفاصلة العشرية ورقمين بعدها.`,
  }),
  no_such_user: { en: 'There is no such user.', ar: 'هذا المستخدم غير موجود.' },
  paid_differently: {
    en: 'The user was paid something else for this period.',
    ar: 'سبق أن صُرف للمستخدم مبلغ مختلف عن هذه الفترة.',
  },
  nothing_to_pay: { en: 'Both amounts are 0.', ar: 'كلا المبلغين يساوي 0.' },
  too_few_points: {
    en: 'The user has fewer points than would be taken.',
    ar: 'نقاط المستخدم أقل من النقاط المطلوب خصمها.',
  },
} satisfies Messages
