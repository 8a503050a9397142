import { ACCOUNT_PATTERN, currencies } from '../../../schema/account.ts'
import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { type Key, keyOf, projection } from './projection.ts'
import type { State, WritableState } from './state.ts'

export { currencies }
export type Currency = (typeof currencies)[number]

/** Whose accounts there are. `house` and `issuance` are the system's own. */
export type Holder = 'user' | 'room' | 'game' | 'withdrawal' | 'settled' | 'house' | 'issuance'

/** `<kind>:<id>:<currency>`. */
export type Account = `${Holder}:${number | string}:${Currency}`

export const account = (holder: Holder, id: number | string, currency: Currency): Account =>
  `${holder}:${id}:${currency}`

const accountPattern = new RegExp(ACCOUNT_PATTERN)

export const isAccount = (name: string): boolean => accountPattern.test(name)

export const currencyOf = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

const COLON = 58

/** How many letters the currency at the end of an account's name has. */
function currencyLength(name: string): number {
  let length = 0
  while (length < name.length && name.charCodeAt(name.length - 1 - length) !== COLON) length += 1
  return length
}

/** Letter by letter from the end: asked for every movement of a replay, and nothing is made for it. */
export function sameCurrency(name: string, other: string): boolean {
  const length = currencyLength(name)
  if (length !== currencyLength(other)) return false
  for (let i = 1; i <= length; i += 1) {
    if (name.charCodeAt(name.length - i) !== other.charCodeAt(other.length - i)) return false
  }
  return true
}

/** Only the system's own accounts may go below zero and beyond 2^53-1. */
export const isSystem = (name: string): boolean => name.startsWith('house:') || name.startsWith('issuance:')

export interface Balance {
  readonly account: string
  readonly balance: bigint
}

/** The balance of every account that ever moved. */
export const balances = projection<Balance>('balances')

/** 0 for an account that never moved. */
const exactBalanceOf = (state: State, name: Account): bigint => state.get(balances, name)?.balance ?? 0n

/** A user's or room's balance, which always fits an integer. */
export const balanceOf = (state: State, name: Account): number => Number(exactBalanceOf(state, name))

/** What is on hold of a balance: promised, and still there. */
export interface Hold {
  readonly account: string
  readonly held: bigint
}

/** Of every account of whose balance something is on hold. */
export const holds = projection<Hold>('holds')

/** Whether an account is of those of whose balance something may be on hold: users' dollars, of either wallet. */
export const canBeHeld = (name: string): boolean => name.endsWith('dollars') && name.startsWith('user:')

/** What is to be read of an account that may be debited. */
export const balanceKeys = (name: Account): readonly Key[] =>
  canBeHeld(name) ? [keyOf(balances, name), keyOf(holds, name)] : [keyOf(balances, name)]

/** 0 for an account of which nothing is on hold. */
export const heldOf = (state: State, name: string): bigint =>
  canBeHeld(name) ? (state.get(holds, name)?.held ?? 0n) : 0n

/** What may be debited or put on hold: the balance less what is on hold. */
export const available = (state: State, name: Account): bigint => exactBalanceOf(state, name) - heldOf(state, name)

/** Puts an amount on hold, or with a negative one lets it go. Throws on what no rule may let through. */
export function hold(state: WritableState, name: Account, amount: number): void {
  if (!canBeHeld(name)) throw new Error(`nothing of ${name} can be on hold`)
  const held = heldOf(state, name) + BigInt(amount)
  if (held < 0n) throw new Error(`of ${name} less is on hold than is let go`)
  if (amount > 0 && held > exactBalanceOf(state, name)) throw new Error(`${name} holds less than is put on hold`)
  state.set(holds, name, held === 0n ? undefined : { account: name, held })
}

export const MAX_BALANCE = BigInt(MAX_INTEGER)
