import { Type } from '@sinclair/typebox'
import { CurrencyName, Id } from '../../../schema/common.ts'
import { inputSchema } from '../../ledger/executor/command.ts'
import type { Account, Currency } from '../../ledger/rules/account.ts'
import type { ExactNumber } from '../../ledger/rules/money.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { nameCoveredVerb, registerCovered } from '../proposals/register-covered.ts'
import { formatAmount } from './amount.ts'
import { credit, debit, type MovedBalance } from './balance-move.ts'

const move = { currency: CurrencyName, amount: Id, reason: Type.String() }
const Credit = inputSchema(Type.Object({ user_id: Id, ...move }))
const Debit = inputSchema(
  Type.Object({ holder: Type.Union([Type.Literal('user'), Type.Literal('room')]), id: Id, ...move }),
)

const moved = { status: 201, body: (balance: MovedBalance) => ({ data: balanceMoveRecord(balance) }) } as const

const namedCredit = nameCoveredVerb('credit', Credit, {
  verb: credit,
  describe: ({ user_id, reason }) => ({ action: 'credit', subject: `user:${user_id}`, reason }),
})

const namedDebit = nameCoveredVerb('debit', Debit, {
  verb: debit,
  describe: ({ holder, id, reason }) => ({
    action: holder === 'room' ? 'room_debit' : 'debit',
    subject: `${holder}:${id}`,
    reason,
  }),
})

export const coveredWalletVerbs = [namedCredit, namedDebit] as const

/** The verbs of balances. */
export const walletVerbs = {
  credit: registerCovered(namedCredit, moved),
  debit: registerCovered(namedDebit, moved),
}

/** A move as operators see it; `id` is its position on the ledger. */
interface BalanceMoveRecord {
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
