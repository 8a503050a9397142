import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { type Account, balances, canBeHeld, heldOf, isSystem, MAX_BALANCE, sameCurrency } from './account.ts'
import type { Movement } from './event.ts'
import type { State, WritableState } from './state.ts'

/** One movement. Rules leave out movements of nothing with `moves`. */
export function transfer(debit: Account, credit: Account, amount: number): Movement {
  if (!Number.isSafeInteger(amount) || amount < 1) throw new RangeError(`a movement of ${amount}`)
  return { debit, credit, amount }
}

/** The movements given, less those of nothing. */
export const transfers = (...legs: readonly (readonly [Account, Account, number])[]): Movement[] =>
  legs.filter(([, , amount]) => amount > 0).map(([debit, credit, amount]) => transfer(debit, credit, amount))

/** What accounts gain, or lose: account by account, in the order in which movements name them. */
interface NetChanges {
  readonly accounts: string[]
  /** Numbers as long as those are exact. */
  readonly changes: (number | bigint)[]
}

function netChanges(movements: readonly Movement[]): NetChanges {
  const [only] = movements
  if (movements.length === 1 && only !== undefined && only.debit !== only.credit) {
    return { accounts: [only.debit, only.credit], changes: [-only.amount, only.amount] }
  }
  const net = { accounts: [], changes: [] }
  for (const { debit, credit, amount } of movements) {
    addChange(net, debit, -amount)
    addChange(net, credit, amount)
  }
  return net
}

function addChange({ accounts, changes }: NetChanges, account: string, amount: number): void {
  const index = accounts.indexOf(account)
  if (index === -1) {
    accounts.push(account)
    changes.push(amount)
    return
  }
  const before = changes[index] ?? 0
  const sum = typeof before === 'number' ? before + amount : Number.NaN
  changes[index] = Number.isSafeInteger(sum) ? sum : BigInt(before) + BigInt(amount)
}

/**
 * Why these movements cannot happen on these balances, of which nothing that is on hold may be spent, if so. They are
 * taken as one: only their sums count.
 */
export function transferError(
  state: State,
  movements: readonly Movement[],
): 'insufficient_balance' | 'balance_limit' | undefined {
  let limit = false
  const { accounts, changes } = netChanges(movements)
  for (const [i, name] of accounts.entries()) {
    if (isSystem(name)) continue
    const change = BigInt(changes[i] ?? 0)
    const after = (state.get(balances, name)?.balance ?? 0n) + change
    if (change < 0n && after < heldOf(state, name)) return 'insufficient_balance'
    if (after > MAX_BALANCE) limit = true
  }
  return limit ? 'balance_limit' : undefined
}

/**
 * What movements mean for balances. Throws on what no rule may let through: accounts of two currencies,
 * a user or room account below zero or beyond 2^53-1 at the end of the event.
 */
export function applyMovements(state: WritableState, movements: readonly Movement[]): void {
  for (const { debit, credit, amount } of movements) {
    if (!sameCurrency(debit, credit)) throw new Error(`${debit} and ${credit} differ in currency`)
    if (!Number.isSafeInteger(amount) || amount < 1 || amount > MAX_INTEGER) throw new Error(`a movement of ${amount}`)
  }
  const { accounts, changes } = netChanges(movements)
  for (let i = 0; i < accounts.length; i += 1) {
    const account = accounts[i] ?? ''
    const balance = addTo(state, account, changes[i] ?? 0)
    if (isSystem(account)) continue
    if (balance < 0) throw new Error(`${account} is overdrawn`)
    if (balance > MAX_INTEGER) throw new Error(`${account} is beyond the largest balance`)
  }
}

function addTo(state: WritableState, account: string, change: number | bigint): number | bigint {
  if (state.add !== undefined) return state.add(account, change)
  const balance = (state.get(balances, account)?.balance ?? 0n) + BigInt(change)
  state.set(balances, account, { account, balance })
  return balance
}

/** Throws when movements, whose event is over, spent what is on hold. */
export function checkHolds(state: State, movements: readonly Movement[]): void {
  for (const { debit } of movements) {
    if (!canBeHeld(debit)) continue
    const balance = state.get(balances, debit)?.balance ?? 0n
    if (balance < heldOf(state, debit)) throw new Error(`${debit} holds less than is on hold of it`)
  }
}
