import { MAX_INTEGER } from '../../schema/common.ts'
import type { State } from './decider.ts'
import { projection } from './state.ts'

/** What accounts can hold: coins, diamonds and points in ones, dollars in cents. */
export const currencies = ['coins', 'diamonds', 'target', 'dollars', 'agent_dollars'] as const
export type Currency = (typeof currencies)[number]

/** Whose accounts there are. `house` and `issuance` are the system's own. */
export type Holder = 'user' | 'room' | 'game' | 'house' | 'issuance'

/** `<kind>:<id>:<currency>`. */
export type Account = `${Holder}:${number | string}:${Currency}`

export const account = (holder: Holder, id: number | string, currency: Currency): Account =>
  `${holder}:${id}:${currency}`

export const currencyOf = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

export function sameCurrency(name: string, other: string): boolean {
  const colon = name.lastIndexOf(':')
  return colon === -1 ? currencyOf(other) === name : other.endsWith(name.slice(colon))
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
const balanceOf = (state: State, name: Account): bigint => state.get(balances, name)?.balance ?? 0n

/** A user's or room's balance, which always fits an integer. */
export const holdings = (state: State, name: Account): number => Number(balanceOf(state, name))

export const LARGEST_BALANCE = BigInt(MAX_INTEGER)
