import {
  type Account,
  account,
  balanceKeys,
  balanceOf,
  balances,
  type Currency,
  transfer,
  transferError,
} from '../../ledger/rules/account.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import { keyOf, type State } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { rooms } from '../rooms/room.ts'
import { users } from '../users/user.ts'

/** A credit or debit that an operator requests: a movement between an account and the operators' issuance account. */
export interface BalanceMove {
  readonly currency: Currency
  /** Whole units (cents for dollars), from 1. */
  readonly amount: number
  readonly reason: string
}

/** A credit or debit that was made. */
export interface MovedBalance extends BalanceMove {
  /** Position of its event. */
  readonly position: number
  readonly account: Account
  /** The account's balance after it. */
  readonly balance: number
  readonly at: Micros
}

/** `state` is the state after the event. Throws unless there is exactly one movement to report. */
function movedBalance(
  state: State,
  account: Account,
  { currency, reason }: BalanceMove,
  events: readonly PositionedEvent[],
): MovedBalance {
  const [event] = events
  const [movement] = event?.movements ?? []
  if (event === undefined || movement === undefined) throw new Error('the command made no movement')
  const { amount } = movement
  return {
    position: event.position,
    account,
    currency,
    amount,
    balance: balanceOf(state, account),
    reason,
    at: event.at,
  }
}

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
    const movements = [transfer(source(input), credited(input), input.amount)]
    const error = transferError(state, movements)
    if (error !== undefined) return refuse(error)
    return [{ type: 'balance-credited', data: { reason: input.reason }, movements }]
  },

  result: (state, input, events) => movedBalance(state, credited(input), input, events),
}

const source = ({ currency }: Credit) => account('issuance', 'operator', currency)
const credited = ({ user_id, currency }: Credit) => account('user', user_id, currency)

export interface Debit extends BalanceMove {
  readonly holder: 'user' | 'room'
  readonly id: number
}

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
    const movements = [transfer(debited(input), sink(input), input.amount)]
    const error = transferError(state, movements)
    if (error !== undefined) return refuse(error)
    return [{ type: 'balance-debited', data: { reason: input.reason }, movements }]
  },

  result: (state, input, events) => movedBalance(state, debited(input), input, events),
}

const holder = ({ holder, id }: Debit) => (holder === 'user' ? keyOf(users, id) : keyOf(rooms, id))
const debited = ({ holder, id, currency }: Debit) => account(holder, id, currency)
const sink = ({ currency }: Debit) => account('issuance', 'operator', currency)
