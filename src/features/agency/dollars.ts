import { centsToDollars, dollarsToCents } from '../../ledger/rules/money.ts'

/** Cents from an amount as it was sent; null when it has not the form, or is below `least` cents. */
export function askedDollars(sent: string | number, least: number): number | null {
  const units = dollarsToCents(sent)
  return units === null || units < least ? null : units
}

/** The least that can be withdrawn or transferred, in cents. */
export const LEAST = 100

export const dollarsRule = (least: number): string =>
  `must be dollars from ${centsToDollars(least).rawJSON}, with at most 13 digits before and 2 after the point`
