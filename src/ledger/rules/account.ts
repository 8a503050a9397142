import { ACCOUNT_PATTERN, currencies, MAX_INTEGER } from '../../../schema/common.ts'
import { exact, type Key, keyOf, projection, type State, text, type WritableState } from './projection.ts'

export { currencies }
export type Currency = (typeof currencies)[number]

/** The kinds of accounts. Their places in this list, and those of currencies, are stored in the index of the ledger. */
export const holders = [
  'user',
  'debt',
  'room',
  'game',
  'withdrawal',
  'settled',
  'house',
  'issuance',
  'purchases',
] as const
export type Holder = (typeof holders)[number]

/** `<kind>:<id>:<currency>`. */
export type Account = `${Holder}:${number | string}:${Currency}`

export const account = (holder: Holder, id: number | string, currency: Currency): Account =>
  `${holder}:${id}:${currency}`

const accountPattern = new RegExp(ACCOUNT_PATTERN)

export const isAccount = (name: string): boolean => accountPattern.test(name)

export const currencyOf = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

const COLON = 58

/** The length of the currency at the end of an account's name. */
function currencyLength(name: string): number {
  let length = 0
  while (length < name.length && name.charCodeAt(name.length - 1 - length) !== COLON) length += 1
  return length
}

/** Compares characters from the end and allocates nothing: a replay calls it for every movement. */
function sameCurrency(name: string, other: string): boolean {
  const length = currencyLength(name)
  if (length !== currencyLength(other)) return false
  for (let i = 1; i <= length; i += 1) {
    if (name.charCodeAt(name.length - i) !== other.charCodeAt(other.length - i)) return false
  }
  return true
}

/** Only the system's own accounts may have any balance. */
export const isSystem = (name: string): boolean =>
  name.startsWith('house:') || name.startsWith('issuance:') || name.startsWith('purchases:')

/** What a user owes is a negative balance. */
export const isDebt = (name: string): boolean => name.startsWith('debt:')

/** Why an account may not have this balance; undefined when it may. */
export function limitViolation(name: string, balance: number | bigint): string | undefined {
  if (isDebt(name)) {
    if (balance > 0) return `${name} was paid more than was owed`
    return balance < -MAX_INTEGER ? `${name} exceeds the largest debt` : undefined
  }
  // Nearly all balances are within the limits: comparing numbers first keeps a replay fast.
  if ((balance >= 0 && balance <= MAX_INTEGER) || isSystem(name)) return undefined
  return balance < 0 ? `${name} is overdrawn` : `${name} exceeds the largest balance`
}

/** Value that leaves one account and enters another; both accounts are of one currency. */
export interface Movement {
  readonly debit: string
  readonly credit: string
  /** Whole units (cents for dollars), 1 or more. */
  readonly amount: number
}

/** The balance of every account that has ever had a movement. */
export const balances = projection('balances', {
  account: text(),
  balance: exact(),
})

/** 0 for an account without movements. */
const exactBalanceOf = (state: State, name: Account): bigint => state.get(balances, name)?.balance ?? 0n

/** The balance of an account that is not the system's own, which is always a safe integer. */
export const balanceOf = (state: State, name: Account): number => Number(exactBalanceOf(state, name))

/** The part of a balance that is on hold, of every account that has one: promised to a withdrawal, and not yet debited. */
export const holds = projection('holds', {
  account: text(),
  held: exact(),
})

/** Whether an account may have a hold: users' dollars, of either wallet. */
export const canBeHeld = (name: string): boolean => name.endsWith('dollars') && name.startsWith('user:')

/** What a verb has to read of an account that it may debit. */
export const balanceKeys = (name: Account): readonly Key[] =>
  canBeHeld(name) ? [keyOf(balances, name), keyOf(holds, name)] : [keyOf(balances, name)]

/** 0 for an account without a hold. */
const heldOf = (state: State, name: string): bigint => (canBeHeld(name) ? (state.get(holds, name)?.held ?? 0n) : 0n)

/** What may be debited or put on hold: the balance less the hold. */
export const available = (state: State, name: Account): bigint => exactBalanceOf(state, name) - heldOf(state, name)

/** Adds an amount to the hold, or releases a negative one. Throws where a verb should have refused. */
export function hold(state: WritableState, name: Account, amount: number): void {
  if (!canBeHeld(name)) throw new Error(`${name} cannot have a hold`)
  const held = heldOf(state, name) + BigInt(amount)
  if (held < 0n) throw new Error(`${name} releases more than is on hold`)
  if (amount > 0 && held > exactBalanceOf(state, name)) throw new Error(`${name} puts more on hold than its balance`)
  state.set(holds, name, held === 0n ? undefined : { account: name, held })
}

export const MAX_BALANCE = BigInt(MAX_INTEGER)

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
 * Why these movements may not happen: they would spend more than an account has beyond its hold, or bring one beyond its
 * limits. Undefined when they may. Only the net change of each account counts.
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
    if (change < 0n && !isDebt(name) && after < heldOf(state, name)) return 'insufficient_balance'
    if (limitViolation(name, after) !== undefined) limit = true
  }
  return limit ? 'balance_limit' : undefined
}

/**
 * Applies movements to the balances. Throws where a verb should have refused: accounts of two currencies, or an account
 * beyond its limits after all movements.
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
    const violation = limitViolation(account, balance)
    if (violation !== undefined) throw new Error(violation)
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

/** The id that a text is, in canonical digits; null for any other text, such as `007`. */
export function parseId(text: string): number | null {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return null
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : null
}
