import { product } from '../../ledger/rules/money.ts'

/** Whole diamonds for a cent in an instant transfer, by who receives them. */
export const diamondsPerCent = (receiver: { readonly charging_agent: boolean }): number =>
  receiver.charging_agent ? 130 : 100

const CENTS_PER_DOLLAR = 100

/** Diamonds for a dollar, as transfers name their rate. */
export const toDiamondsPerDollar = (perCent: number): number => perCent * CENTS_PER_DOLLAR

/** Null when nobody could hold so many. */
export const diamondsFor = (cents: number, perCent: number): number | null => product(cents, perCent)
