import { type Account, type Currency, holdings } from '../../ledger/rules/account.ts'
import type { ExactNumber } from '../../ledger/rules/money.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { PlacedEvent, State } from '../../ledger/rules/verb.ts'
import { answeredAmount } from './amount.ts'

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
  events: readonly PlacedEvent[],
): BalanceMoved {
  const [event] = events
  const [movement] = event?.movements ?? []
  if (event === undefined || movement === undefined) throw new Error('nothing moved')
  return {
    id: event.position,
    account,
    currency,
    amount: answeredAmount(currency, movement.amount),
    balance: answeredAmount(currency, holdings(state, account)),
    reason,
    created_at: isoMicros(event.at),
  }
}
