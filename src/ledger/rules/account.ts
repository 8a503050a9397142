import { ACCOUNT_PATTERN, currencies, MAX_INTEGER } from '../../../schema/common.ts'
import { exact, text } from './columns.ts'
import { type Key, keyOf, projection } from './projection.ts'
import type { State, WritableState } from './state.ts'

export { currencies }
export type Currency = (typeof currencies)[number]

/** The kinds of accounts. `house` and `issuance` are the system's own. */
export type Holder = 'user' | 'room' | 'game' | 'withdrawal' | 'settled' | 'house' | 'issuance'

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
export function sameCurrency(name: string, other: string): boolean {
  const length = currencyLength(name)
  if (length !== currencyLength(other)) return false
  for (let i = 1; i <= length; i += 1) {
    if (name.charCodeAt(name.length - i) !== other.charCodeAt(other.length - i)) return false
  }
  return true
}

/** Only the system's own accounts may go below zero and above 2^53-1. */
export const isSystem = (name: string): boolean => name.startsWith('house:') || name.startsWith('issuance:')

/** The balance of every account that has ever had a movement. */
export const balances = projection('balances', {
  account: text(),
  balance: exact(),
})

/** 0 for an account without movements. */
const exactBalanceOf = (state: State, name: Account): bigint => state.get(balances, name)?.balance ?? 0n

/** The balance of a user's or room's account, which is always a safe integer. */
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
export const heldOf = (state: State, name: string): bigint =>
  canBeHeld(name) ? (state.get(holds, name)?.held ?? 0n) : 0n

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
