import { type Account, balanceOf, type Currency } from '../../ledger/rules/account.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { State } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

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
export function movedBalance(
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
