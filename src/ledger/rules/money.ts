import { MAX_INTEGER } from '../../../schema/common.ts'

/** The product of whole numbers, or null above 2^53-1, which no balance can reach (`balance_limit`). */
export function product(...factors: readonly number[]): number | null {
  let result = 1
  for (const factor of factors) {
    result *= factor
    // A product above 2^53 may be rounded, but never to below 2^53.
    if (result > MAX_INTEGER) return null
  }
  return result
}

/** `numerator`/`denominator` of an amount, rounded down; exact for all amounts. */
export function share(amount: number, numerator: number, denominator: number): number {
  const small = amount * numerator
  if (small <= MAX_INTEGER) return Math.floor(small / denominator)
  return Number((BigInt(amount) * BigInt(numerator)) / BigInt(denominator))
}

/** A percentage of an amount, rounded down. */
export const percentOf = (amount: number, percent: number): number => share(amount, percent, 100)

/** A balance in JSON: an integer, or a decimal string beyond 2^53-1 (system accounts only). */
export function serializeBalance(balance: bigint): number | string {
  return balance >= -BigInt(MAX_INTEGER) && balance <= BigInt(MAX_INTEGER) ? Number(balance) : balance.toString()
}

/** Whether amounts of a currency are kept in cents: dollars of either wallet are. */
export const isDollars = (currency: string): boolean => currency === 'dollars' || currency === 'agent_dollars'

/**
 * Parses dollars from a request: a string of up to 13 digits and up to 2 decimals, or a number whose shortest decimal
 * form is such a string; null for anything else. Joins digits instead of multiplying, which could round.
 */
export function dollarsToCents(value: string | number): number | null {
  const parts = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(String(value))
  return parts === null ? null : Number(`${parts[1]}${(parts[2] ?? '').padEnd(2, '0')}`)
}

/** A number that `JSON.stringify` prints digit for digit where a double would be rounded. */
export interface ExactNumber {
  readonly rawJSON: string
}

declare global {
  interface JSON {
    rawJSON(text: string): ExactNumber
  }
}

/**
 * Cents (0 to 2^53-1) as a JSON number of dollars: `1234` is 12.34. Doubles above 2^46 dollars are further apart than a
 * cent, so the digits are printed as they are.
 */
export function centsToDollars(cents: number): ExactNumber {
  const digits = String(cents).padStart(3, '0')
  const fraction = digits.slice(-2).replace(/0+$/, '')
  return JSON.rawJSON(fraction === '' ? digits.slice(0, -2) : `${digits.slice(0, -2)}.${fraction}`)
}

/** Adds in numbers where that is exact: most of a replay's work is adding. */
export function exactSum(sum: number | bigint, change: number | bigint): number | bigint {
  const number = Number(sum) + Number(change)
  if (Number.isSafeInteger(number) && typeof sum === 'number' && typeof change === 'number') return number
  const exact = BigInt(sum) + BigInt(change)
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}
