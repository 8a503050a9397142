import { dollarsToCents } from '../../ledger/rules/money.ts'

/** Parses an amount of a request into cents; null when it is malformed or below `minCents`. */
export function parseDollars(sent: string | number, minCents: number): number | null {
  const units = dollarsToCents(sent)
  return units === null || units < minCents ? null : units
}

/** The smallest withdrawal or transfer, in cents. */
export const MIN_TRANSFER_CENTS = 100
