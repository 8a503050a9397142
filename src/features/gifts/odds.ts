import type { OddsRow } from '../../../schema/events.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { FieldErrors } from '../../language/messages.ts'
import { sha256 } from '../../ledger/rules/hash.ts'
import { product, share } from '../../ledger/rules/money.ts'
import type { State } from '../../ledger/rules/projection.ts'
import { drawOrder, type LuckyChains } from '../fairness/algorithms.ts'
import { nextSend } from '../fairness/lucky-chains.ts'
import { giftMessages } from './messages.ts'

/** Multipliers are stored in ten-thousandths of the stake. */
export const MULTIPLIER_UNIT = 10_000
/** The highest multiplier, 10,000 times the stake. */
const MAX_MULTIPLIER = 10_000 * MULTIPLIER_UNIT
export const MAX_TOTAL_WEIGHT = 1_000_000_000

/** Parses a published multiplier (0 to 10,000, at most 4 decimals) into ten-thousandths; null when it is invalid. */
export function parseMultiplier(value: number): number | null {
  const units = Math.abs(Math.round(value * MULTIPLIER_UNIT))
  // Rounding changes the value exactly when it has more than 4 decimals or is negative.
  return units <= MAX_MULTIPLIER && units / MULTIPLIER_UNIT === value ? units : null
}

/** A published row: the multiplier is a decimal number. */
export interface PublishedRow {
  readonly multiplier: number
  readonly weight: number
}

/** Parses published rows; errors by field when a multiplier is invalid. */
export function parseOdds(
  odds: readonly PublishedRow[],
): { readonly rows: readonly OddsRow[] } | { readonly errors: FieldErrors } {
  const rows: OddsRow[] = []
  const errors: Record<string, LocalizedText[]> = {}
  odds.forEach(({ multiplier, weight }, i) => {
    const parsed = parseMultiplier(multiplier)
    if (parsed === null) errors[`odds.${i}.multiplier`] = [giftMessages.multiplier]
    else rows.push({ multiplier: parsed, weight })
  })
  return Object.keys(errors).length > 0 ? { errors } : { rows }
}

/** A stored row in its published form. */
export const publishedRow = ({ multiplier, weight }: OddsRow): PublishedRow => ({
  multiplier: multiplier / MULTIPLIER_UNIT,
  weight,
})

export const totalWeight = (odds: readonly OddsRow[]): number => odds.reduce((sum, { weight }) => sum + weight, 0)

/** The row that a drawn number selects: the first whose cumulative weight exceeds `r`. Throws beyond the total. */
export function rowForNumber(odds: readonly OddsRow[], r: number): OddsRow {
  let cumulative = 0
  for (const row of odds) {
    cumulative += row.weight
    if (cumulative > r) return row
  }
  throw new RangeError(`${r} exceeds the total weight`)
}

/** Diamonds won: stake times multiplier, rounded down. Beyond 2^53-1 inexact, but never below that limit. */
export const rewardOf = (stake: number, { multiplier }: OddsRow): number => share(stake, multiplier, MULTIPLIER_UNIT)

/** The most diamonds that this many orders can win; null beyond 2^53-1. */
export function maxTotalReward(odds: readonly OddsRow[], stake: number, orders: number): number | null {
  return product(Math.max(...odds.map((row) => rewardOf(stake, row))), orders)
}

/** Like `rewardOf`, but exact at any size. */
export const exactRewardOf = (stake: number, { multiplier }: OddsRow): bigint =>
  (BigInt(stake) * BigInt(multiplier)) / BigInt(MULTIPLIER_UNIT)

/** The expected share of stakes that is paid back, as an exact fraction. */
export function returnToPlayer(odds: readonly OddsRow[]): { readonly paid: bigint; readonly staked: bigint } {
  const paid = odds.reduce((sum, { multiplier, weight }) => sum + BigInt(multiplier) * BigInt(weight), 0n)
  return { paid, staked: BigInt(totalWeight(odds)) * BigInt(MULTIPLIER_UNIT) }
}

/** `return_to_player` as a fraction. */
export function returnToPlayerFraction(odds: readonly OddsRow[]): number {
  const { paid, staked } = returnToPlayer(odds)
  // 12 decimals are exact for realistic odds, because both parts of the division stay below 2^53.
  const scaled = (paid * 1_000_000_000_000n) / staked
  return scaled <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(scaled) / 1_000_000_000_000 : Number(paid) / Number(staked)
}

/**
 * SHA-256 of the table's canonical JSON (RFC 8785), by which draws refer to it. Fields must stay in alphabetical order;
 * JSON.stringify writes numbers canonically.
 */
export const oddsHash = (decorationId: number, odds: readonly OddsRow[]): string =>
  sha256(JSON.stringify({ decoration_id: decorationId, odds: odds.map(publishedRow) }))

interface DrawnGift {
  readonly decoration_id: number
  readonly odds: readonly OddsRow[]
  readonly odds_hash: string | null
}

/**
 * The draws of a send, one per order, all from one link of the sender's chain; `opening` are the events that open the chain
 * first, if it is new. `stake` is the diamonds of each order: price times quantity.
 */
export function drawOrders(
  state: State,
  chains: LuckyChains,
  { sender_id, receiver_ids }: { readonly sender_id: number; readonly receiver_ids: readonly number[] },
  { decoration_id, odds, odds_hash }: DrawnGift,
  stake: number,
) {
  if (odds_hash === null) throw new Error(`gift ${decoration_id} has odds but no hash`)
  const { opening, incarnation, chain, k, client_seed, announced } = nextSend(state, chains, sender_id)
  const secret = chains.link({ incarnation, chain }, k)
  const weights = totalWeight(odds)
  const draws = receiver_ids.map((_, i) => {
    const { r } = drawOrder(secret, chain, client_seed, k, i, weights)
    return { r, reward: rewardOf(stake, rowForNumber(odds, r)) }
  })
  const link = Buffer.from(secret).toString('hex')
  return { opening, drawData: { incarnation, chain, k, link, announced, client_seed, odds_hash, draws } }
}
