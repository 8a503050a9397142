import { product } from '../ledger/money.ts'

/** Diamonds for a dollar in an instant transfer, by who receives them. */
export const instantRate = (receiver: { readonly charging_agent: boolean }): number =>
  receiver.charging_agent ? 13_000 : 10_000

/** Cents at a rate of whole diamonds a cent; null when nobody could hold so many. */
export const diamondsFor = (cents: number, rate: number): number | null => product(cents, rate / 100)
