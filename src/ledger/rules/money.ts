import { MAX_INTEGER } from '../../../schema/max-integer.ts'

/** Product of whole numbers, or null when it passes 2^53-1 (then nobody can hold it: `balance_limit`). */
export function product(...factors: readonly number[]): number | null {
  let result = 1
  for (const factor of factors) {
    result *= factor
    // A product of integers beyond 2^53 may have been rounded, but never to below 2^53.
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

/** A balance as it is answered: an integer, or a decimal string beyond 2^53-1 (system accounts only). */
export function serializeBalance(balance: bigint): number | string {
  return balance >= -BigInt(MAX_INTEGER) && balance <= BigInt(MAX_INTEGER) ? Number(balance) : balance.toString()
}

/**
 * Dollars as they are sent, in cents: a string of up to 13 digits and up to 2 decimals, or a number whose
 * shortest decimal form is such a string. Null when it is neither. Digits are joined, never multiplied.
 */
export function dollarsToCents(value: string | number): number | null {
  const parts = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(String(value))
  return parts === null ? null : Number(`${parts[1]}${(parts[2] ?? '').padEnd(2, '0')}`)
}

/** A number that JSON prints digit for digit, also where a double would have rounded it. */
export interface ExactNumber {
  readonly rawJSON: string
}

declare global {
  interface JSON {
    rawJSON(text: string): ExactNumber
  }
}

/**
 * Cents (from 0 to 2^53-1) as the JSON number of dollars: `1234` is 12.34. Doubles of 2^46 dollars and more
 * lie further apart than a cent, so the digits go out as they are.
 */
export function centsToDollars(cents: number): ExactNumber {
  const digits = String(cents).padStart(3, '0')
  const fraction = digits.slice(-2).replace(/0+$/, '')
  return JSON.rawJSON(fraction === '' ? digits.slice(0, -2) : `${digits.slice(0, -2)}.${fraction}`)
}
