import type { HistoryItem } from '../../../../schema/wallet.ts'
import type { NumberedEntry } from '../../../ledger/indexes/latest-entries.ts'
import { type Currency, currencies, currencyOf } from '../../../ledger/rules/account.ts'
import type { ExactNumber } from '../../../ledger/rules/money.ts'
import { isoMicros } from '../../../ledger/rules/time.ts'
import { formatAmount } from '../amount.ts'

/** A movement as its owner sees it. */
export function historyItem({
  account,
  position,
  number,
  type,
  amount,
  balance,
  at,
  counter,
}: NumberedEntry): HistoryItem {
  const currency = currencies.find((name) => name === currencyOf(account))
  if (currency === undefined) throw new Error(`${account} has no known currency`)
  const [kind, id] = counter.split(':')
  return {
    id: `${position}-${number}`,
    type,
    currency,
    amount: signedAmount(currency, amount),
    balance: formatAmount(currency, Number(balance)),
    at: isoMicros(at),
    counter_account: kind === 'user' ? { user_id: Number(id) } : counter,
  }
}

function signedAmount(currency: Currency, units: number): number | ExactNumber {
  const amount = formatAmount(currency, Math.abs(units))
  if (units >= 0) return amount
  return typeof amount === 'number' ? -amount : JSON.rawJSON(`-${amount.rawJSON}`)
}
