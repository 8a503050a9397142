import { MAX_INTEGER } from '../../schema/common.ts'
import { type Account, balances, canBeHeld, currencyOf, heldOf, isSystem, LARGEST_BALANCE } from './account.ts'
import type { State, WritableState } from './decider.ts'

/** Value that leaves one account and enters another; both accounts are of one currency. */
export interface Movement {
  readonly debit: string
  readonly credit: string
  /** Whole units (cents of a dollar), from 1. */
  readonly amount: number
}

/** One movement. Rules leave out movements of nothing with `moves`. */
export function move(debit: Account, credit: Account, amount: number): Movement {
  if (!Number.isSafeInteger(amount) || amount < 1) throw new RangeError(`a movement of ${amount}`)
  return { debit, credit, amount }
}

/** The movements given, less those of nothing. */
export const moves = (...legs: readonly (readonly [Account, Account, number])[]): Movement[] =>
  legs.filter(([, , amount]) => amount > 0).map(([debit, credit, amount]) => move(debit, credit, amount))

/** What each account gains, or loses, by movements that are taken as one. */
function netOf(movements: readonly Movement[]): ReadonlyMap<string, bigint> {
  const changes = new Map<string, bigint>()
  for (const { debit, credit, amount } of movements) {
    const units = BigInt(amount)
    changes.set(debit, (changes.get(debit) ?? 0n) - units)
    changes.set(credit, (changes.get(credit) ?? 0n) + units)
  }
  return changes
}

/**
 * Why these movements cannot happen on these balances, of which nothing that is on hold may be spent, if so. They are
 * taken as one: only their sums count.
 */
export function obstacle(
  state: State,
  movements: readonly Movement[],
): 'insufficient_balance' | 'balance_limit' | undefined {
  let limit = false
  for (const [name, change] of netOf(movements)) {
    if (isSystem(name)) continue
    const after = (state.get(balances, name)?.balance ?? 0n) + change
    if (change < 0n && after < heldOf(state, name)) return 'insufficient_balance'
    if (after > LARGEST_BALANCE) limit = true
  }
  return limit ? 'balance_limit' : undefined
}

/**
 * What movements mean for balances. Throws on what no rule may let through: accounts of two currencies,
 * a user or room account below zero or beyond 2^53-1 at the end of the event.
 */
export function applyMovements(state: WritableState, movements: readonly Movement[]): void {
  for (const { debit, credit, amount } of movements) {
    if (currencyOf(debit) !== currencyOf(credit)) throw new Error(`${debit} and ${credit} differ in currency`)
    if (!Number.isSafeInteger(amount) || amount < 1 || amount > MAX_INTEGER) throw new Error(`a movement of ${amount}`)
  }
  for (const [account, change] of netOf(movements)) {
    const balance = (state.get(balances, account)?.balance ?? 0n) + change
    if (!isSystem(account)) {
      if (balance < 0n) throw new Error(`${account} is overdrawn`)
      if (balance > LARGEST_BALANCE) throw new Error(`${account} is beyond the largest balance`)
    }
    state.set(balances, account, { account, balance })
  }
}

/** Throws when movements, whose event is over, spent what is on hold. */
export function checkHolds(state: State, movements: readonly Movement[]): void {
  for (const { debit } of movements) {
    if (!canBeHeld(debit)) continue
    const balance = state.get(balances, debit)?.balance ?? 0n
    if (balance < heldOf(state, debit)) throw new Error(`${debit} holds less than is on hold of it`)
  }
}
