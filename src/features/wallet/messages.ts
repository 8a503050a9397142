import type { Messages } from '../../language/messages.ts'

/** What operators read about amounts. */
export const walletMessages = {
  dollars_rule: {
    en: 'The value must be dollars from 0.01, with at most 13 digits before and 2 after the point.',
    ar: 'يجب أن تكون القيمة مبلغًا بالدولار لا يقل عن 0.01، بما لا يزيد على 13 رقمًا قبل الفاصلة العشرية ورقمين بعدها.',
  },
  units_rule: {
    en: 'The value must be an integer from 1 to 9007199254740991.',
    ar: 'يجب أن تكون القيمة عددًا صحيحًا من 1 إلى 9,007,199,254,740,991.',
  },
} satisfies Messages
