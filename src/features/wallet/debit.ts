import { account, balances, purse } from '../../ledger/rules/account.ts'
import { move, obstacle } from '../../ledger/rules/movement.ts'
import { keyOf } from '../../ledger/rules/state.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { rooms } from '../rooms/room.ts'
import { users } from '../users/user.ts'
import { type BalanceMove, type BalanceMoved, balanceMoved } from './balance-move.ts'

export interface Debit extends BalanceMove {
  readonly holder: 'user' | 'room'
  readonly id: number
}

/** An operator takes from a user's or a room's balance, never more than is available: value is taken back. */
export const debit: Verb<Debit, BalanceMoved> = {
  reads: (input) => [holder(input), ...purse(debited(input)), keyOf(balances, sink(input))],

  decide(state, input) {
    const { projection, id } = holder(input)
    if (state.get(projection, id) === undefined) return refuse('not_found')
    const movements = [move(debited(input), sink(input), input.amount)]
    const obstructed = obstacle(state, movements)
    if (obstructed !== undefined) return refuse(obstructed)
    return [{ type: 'balance-debited', data: { reason: input.reason }, movements }]
  },

  answer: (state, input, events) => balanceMoved(state, debited(input), input, events),
}

const holder = ({ holder, id }: Debit) => (holder === 'user' ? keyOf(users, id) : keyOf(rooms, id))
const debited = ({ holder, id, currency }: Debit) => account(holder, id, currency)
const sink = ({ currency }: Debit) => account('issuance', 'operator', currency)
