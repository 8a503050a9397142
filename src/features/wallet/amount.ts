import type { LocalizedText } from '../../../schema/languages.ts'
import type { Messages } from '../../language/messages.ts'
import type { Currency } from '../../ledger/rules/account.ts'
import { centsToDollars, dollarsToCents, type ExactNumber, isDollars } from '../../ledger/rules/money.ts'

/** An amount as sent, in whole units (cents for dollars) from 1; null when it is invalid. */
export function parseAmount(currency: Currency, sent: string | number): number | null {
  const units = isDollars(currency) ? dollarsToCents(sent) : sent
  return typeof units === 'number' && Number.isSafeInteger(units) && units > 0 ? units : null
}

/** The error message for an invalid amount of a currency. */
export const amountRule = (currency: Currency): LocalizedText =>
  isDollars(currency) ? walletMessages.dollars_rule : walletMessages.units_rule

/** Units as a response shows them: dollars with two decimals, other currencies as an integer. */
export const formatAmount = (currency: Currency, units: number): number | ExactNumber =>
  isDollars(currency) ? centsToDollars(units) : units

/** What operators read about amounts. */
const walletMessages = {
  dollars_rule: {
    en: 'The value must be dollars from 0.01, with at most 13 digits before and 2 after the point.',
    ar: 'يجب أن تكون القيمة مبلغًا بالدولار لا يقل عن 0.01، بما لا يزيد على 13 رقمًا قبل الفاصلة العشرية ورقمين بعدها.',
  },
  units_rule: {
    en: 'The value must be an integer from 1 to 9007199254740991.',
    ar: 'يجب أن تكون القيمة عددًا صحيحًا من 1 إلى 9,007,199,254,740,991.',
  },
} satisfies Messages
