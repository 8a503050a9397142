import { account, balances, transfer, transferError } from '../../ledger/rules/account.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { users } from '../users/user.ts'
import { type BalanceMove, type MovedBalance, movedBalance } from './balance-move.ts'

export interface Credit extends BalanceMove {
  readonly user_id: number
}

const refusals = ['not_found', 'insufficient_balance', 'balance_limit'] as const

/** An operator adds to a user's balance: new value is issued. Refusals, in this order: `not_found`, `balance_limit`. */
export const credit: Verb<Credit, MovedBalance, typeof refusals> = {
  refusals,
  reads: (input) => [keyOf(users, input.user_id), keyOf(balances, source(input)), keyOf(balances, credited(input))],

  decide(state, input) {
    if (state.get(users, String(input.user_id)) === undefined) return refuse('not_found')
    const movements = creditMovements(input)
    const error = transferError(state, movements)
    if (error !== undefined) return refuse(error)
    return [{ type: 'balance-credited', data: { reason: input.reason }, movements }]
  },

  result: (state, input, events) => movedBalance(state, credited(input), input, events),
}

export const creditMovements = (input: Credit) => [transfer(source(input), credited(input), input.amount)]

const source = ({ currency }: Credit) => account('issuance', 'operator', currency)
const credited = ({ user_id, currency }: Credit) => account('user', user_id, currency)
