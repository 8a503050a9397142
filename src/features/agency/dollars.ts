import type { DollarWallet } from '../../../schema/agency-events.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { type Account, account } from '../../ledger/rules/account.ts'
import { centsToDollars, dollarsToCents } from '../../ledger/rules/money.ts'

export const dollarWallet = (agentBenefit: boolean): DollarWallet => (agentBenefit ? 'agent_dollars' : 'dollars')

export const walletAccount = (userId: number, wallet: DollarWallet): Account => account('user', userId, wallet)

/** Holds the dollars of a request from its approval until it is transferred or refunded. */
export const withdrawalAccount = (withdrawalId: number): Account => account('withdrawal', withdrawalId, 'dollars')

/** Collects the dollars of requests that an agent or manager has paid out. */
export const settlementAccount = (targetId: number): Account => account('settled', targetId, 'dollars')

/** Convert agent dollars into dollars when a request is approved, and back when it is rejected afterwards. */
export const AGENT_DOLLARS_CLEARING = account('house', 'withdrawals', 'agent_dollars')
export const DOLLARS_CLEARING = account('house', 'withdrawals', 'dollars')

/** Parses an amount of a request into cents; null when it is malformed or below `minCents`. */
export function parseDollars(sent: string | number, minCents: number): number | null {
  const units = dollarsToCents(sent)
  return units === null || units < minCents ? null : units
}

/** What an amount must be that `parseDollars` does not take. */
export const dollarsRule = (minCents: number): LocalizedText => ({
  en: `The value must be dollars from ${centsToDollars(minCents).rawJSON}, with at most 13 digits before and 2 after the point.`,
  ar: `يجب أن تكون القيمة مبلغًا بالدولار لا يقل عن ${centsToDollars(minCents).rawJSON}، بما لا يزيد على 13 رقمًا قبل الفاصلة العشرية ورقمين بعدها.`,
})

/** The smallest withdrawal or transfer, in cents. */
export const MIN_TRANSFER_CENTS = 100
