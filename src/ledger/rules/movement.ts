import { MAX_INTEGER } from '../../../schema/common.ts'
import { type Account, balances, canBeHeld, heldOf, isSystem, MAX_BALANCE, sameCurrency } from './account.ts'
import type { Movement } from './event.ts'
import type { State, WritableState } from './state.ts'

/** A movement of 1 or more; `transfers` leaves out those of 0. */
export function transfer(debit: Account, credit: Account, amount: number): Movement {
  if (!Number.isSafeInteger(amount) || amount < 1) throw new RangeError(`invalid amount of a movement: ${amount}`)
  return { debit, credit, amount }
}

/** The movements given, without those of 0. */
export const transfers = (...legs: readonly (readonly [Account, Account, number])[]): Movement[] =>
  legs.filter(([, , amount]) => amount > 0).map(([debit, credit, amount]) => transfer(debit, credit, amount))

/** What each account gains or loses, in the order in which movements name the accounts. */
interface NetChanges {
  readonly accounts: string[]
  /** Numbers as long as they are exact. */
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
 * Why these movements may not happen: they would spend more than an account has beyond its hold, or fill one beyond the
 * limit. Undefined when they may. Only the net change of each account counts.
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
 * Applies movements to the balances. Throws where a verb should have refused: accounts of two currencies, a user's or
 * room's account below zero or above 2^53-1 after all movements.
 */
export function applyMovements(state: WritableState, movements: readonly Movement[]): void {
  for (const { debit, credit, amount } of movements) {
    if (!sameCurrency(debit, credit)) throw new Error(`${debit} and ${credit} differ in currency`)
    if (!Number.isSafeInteger(amount) || amount < 1 || amount > MAX_INTEGER)
      throw new Error(`invalid amount of a movement: ${amount}`)
  }
  const { accounts, changes } = netChanges(movements)
  for (let i = 0; i < accounts.length; i += 1) {
    const account = accounts[i] ?? ''
    const balance = addTo(state, account, changes[i] ?? 0)
    if (isSystem(account)) continue
    if (balance < 0) throw new Error(`${account} is overdrawn`)
    if (balance > MAX_INTEGER) throw new Error(`${account} exceeds the largest balance`)
  }
}

function addTo(state: WritableState, account: string, change: number | bigint): number | bigint {
  if (state.add !== undefined) return state.add(account, change)
  const balance = (state.get(balances, account)?.balance ?? 0n) + BigInt(change)
  state.set(balances, account, { account, balance })
  return balance
}

/** Throws when an event left an account with less than its hold. */
export function checkHolds(state: State, movements: readonly Movement[]): void {
  for (const { debit } of movements) {
    if (!canBeHeld(debit)) continue
    const balance = state.get(balances, debit)?.balance ?? 0n
    if (balance < heldOf(state, debit)) throw new Error(`${debit} has less than its hold`)
  }
}
