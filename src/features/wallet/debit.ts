import { account, balanceKeys, balances, transfer, transferError } from '../../ledger/rules/account.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { rooms } from '../rooms/room.ts'
import { users } from '../users/user.ts'
import { type BalanceMove, type MovedBalance, movedBalance } from './balance-move.ts'

export interface Debit extends BalanceMove {
  readonly holder: 'user' | 'room'
  readonly id: number
}

const refusals = ['not_found', 'insufficient_balance', 'balance_limit'] as const

/**
 * An operator takes value back from a user's or a room's balance, at most what is available. Refusals, in this order:
 * `not_found`, `insufficient_balance`.
 */
export const debit: Verb<Debit, MovedBalance, typeof refusals> = {
  refusals,
  reads: (input) => [holder(input), ...balanceKeys(debited(input)), keyOf(balances, sink(input))],

  decide(state, input) {
    const { projection, id } = holder(input)
    if (state.get(projection, id) === undefined) return refuse('not_found')
    const movements = debitMovements(input)
    const error = transferError(state, movements)
    if (error !== undefined) return refuse(error)
    return [{ type: 'balance-debited', data: { reason: input.reason }, movements }]
  },

  result: (state, input, events) => movedBalance(state, debited(input), input, events),
}

export const debitMovements = (input: Debit) => [transfer(debited(input), sink(input), input.amount)]

const holder = ({ holder, id }: Debit) => (holder === 'user' ? keyOf(users, id) : keyOf(rooms, id))
const debited = ({ holder, id, currency }: Debit) => account(holder, id, currency)
const sink = ({ currency }: Debit) => account('issuance', 'operator', currency)
