import { type Account, balanceOf, type Currency } from '../../ledger/rules/account.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ExactNumber } from '../../ledger/rules/money.ts'
import type { State } from '../../ledger/rules/state.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { formatAmount } from './amount.ts'

/** What an operator asks for: a move between an account and the operators' own. */
export interface BalanceMove {
  readonly currency: Currency
  /** Whole units (cents of a dollar), from 1. */
  readonly amount: number
  readonly reason: string
}

/** What an operator is told of a move; `id` is its position on the ledger. */
export interface BalanceMoved {
  readonly id: number
  readonly account: Account
  readonly currency: Currency
  readonly amount: number | ExactNumber
  readonly balance: number | ExactNumber
  readonly reason: string
  readonly created_at: string
}

/** `state` is that after the one event of the move. */
export function balanceMoved(
  state: State,
  account: Account,
  { currency, reason }: BalanceMove,
  events: readonly PositionedEvent[],
): BalanceMoved {
  const [event] = events
  const [movement] = event?.movements ?? []
  if (event === undefined || movement === undefined) throw new Error('nothing moved')
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
