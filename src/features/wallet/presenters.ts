import type { Account, Currency } from '../../ledger/rules/account.ts'
import type { ExactNumber } from '../../ledger/rules/money.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { formatAmount } from './amount.ts'
import type { MovedBalance } from './balance-move.ts'

/** A move as operators see it; `id` is its position on the ledger. */
export interface BalanceMoveRecord {
  readonly id: number
  readonly account: Account
  readonly currency: Currency
  readonly amount: number | ExactNumber
  readonly balance: number | ExactNumber
  readonly reason: string
  readonly created_at: string
}

export const balanceMoveRecord = (moved: MovedBalance): BalanceMoveRecord => ({
  id: moved.position,
  account: moved.account,
  currency: moved.currency,
  amount: formatAmount(moved.currency, moved.amount),
  balance: formatAmount(moved.currency, moved.balance),
  reason: moved.reason,
  created_at: isoMicros(moved.at),
})
