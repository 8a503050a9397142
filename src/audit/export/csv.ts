import { currencyOf } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { csvText } from '../csv.ts'
import { formatDecimal } from '../format.ts'

export const CSV_HEADER = 'position,at,type,actor,request_id,account,counter_account,currency,amount\n'

/**
 * Two lines for each movement, one for each account; none for an event without movements. Amounts are
 * whole, dollars with two decimals, and negative for the account that value leaves, so that each currency sums to zero.
 */
export function formatCsv({ position, at, type, actor, requestId, movements }: LedgerEntry): string {
  if (movements.length === 0) return ''
  const start = `${position},${isoMicros(at)},${type},${csvText(actor)},${csvText(requestId)}`
  let lines = ''
  for (const { debit, credit, amount: units } of movements) {
    const currency = currencyOf(debit)
    const amount = formatDecimal(currency, units)
    lines += `${start},${debit},${credit},${currency},-${amount}\n${start},${credit},${debit},${currency},${amount}\n`
  }
  return lines
}
