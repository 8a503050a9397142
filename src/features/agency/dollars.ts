import { centsToDollars, dollarsToCents } from '../../ledger/rules/money.ts'

/** Parses an amount of a request into cents; null when it is malformed or below `minCents`. */
export function parseDollars(sent: string | number, minCents: number): number | null {
  const units = dollarsToCents(sent)
  return units === null || units < minCents ? null : units
}

/** The smallest withdrawal or transfer, in cents. */
export const MIN_TRANSFER_CENTS = 100

export const dollarsRule = (minCents: number): string =>
  `must be dollars from ${centsToDollars(minCents).rawJSON}, with at most 13 digits before and 2 after the point`
