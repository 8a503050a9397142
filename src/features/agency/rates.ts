import { product } from '../../ledger/rules/money.ts'

/** Diamonds per cent in an instant transfer, by receiver. */
export const diamondsPerCent = (receiver: { readonly charging_agent: boolean }): number =>
  receiver.charging_agent ? 130 : 100

const CENTS_PER_DOLLAR = 100

/** Diamonds per dollar, the unit in which transfers state their rate. */
export const toDiamondsPerDollar = (perCent: number): number => perCent * CENTS_PER_DOLLAR

/** Diamonds for an amount in cents; null beyond 2^53-1. */
export const diamondsFor = (cents: number, perCent: number): number | null => product(cents, perCent)
