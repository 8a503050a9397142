import { type Account, balanceOf, type Currency } from '../../ledger/rules/account.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ExactNumber } from '../../ledger/rules/money.ts'
import type { State } from '../../ledger/rules/state.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { formatAmount } from './amount.ts'

/** A credit or debit that an operator requests: a movement between an account and the operators' issuance account. */
export interface BalanceMove {
  readonly currency: Currency
  /** Whole units (cents for dollars), from 1. */
  readonly amount: number
  readonly reason: string
}

/** The result of a credit or debit; `id` is the position of its event. */
export interface BalanceMoved {
  readonly id: number
  readonly account: Account
  readonly currency: Currency
  readonly amount: number | ExactNumber
  readonly balance: number | ExactNumber
  readonly reason: string
  readonly created_at: string
}

/** `state` is the state after the event. Throws unless there is exactly one movement to report. */
export function balanceMoved(
  state: State,
  account: Account,
  { currency, reason }: BalanceMove,
  events: readonly PositionedEvent[],
): BalanceMoved {
  const [event] = events
  const [movement] = event?.movements ?? []
  if (event === undefined || movement === undefined) throw new Error('the command made no movement')
  return {
    id: event.position,
    account,
    currency,
    amount: formatAmount(currency, movement.amount),
    balance: formatAmount(currency, balanceOf(state, account)),
    reason,
    created_at: isoMicros(event.at),
  }
}
