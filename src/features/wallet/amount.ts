import type { LocalizedText } from '../../../schema/languages.ts'
import type { Currency } from '../../ledger/rules/account.ts'
import { centsToDollars, dollarsToCents, type ExactNumber, isDollars } from '../../ledger/rules/money.ts'
import { walletMessages } from './messages.ts'

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
