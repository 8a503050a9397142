/** Share of a card's days that counts, in per cent, by how many steps its rank is lower than the running one. */
const PERCENT_BY_RANKS_BELOW = [100, 45, 25] as const
const LOWEST_PERCENT = 10

/** Of a card that is activated while a privilege runs; one of a higher rank, which replaces it, counts in full. */
export function percentOfDays(runningRank: number, cardRank: number): number {
  const ranksBelow = Math.max(0, runningRank - cardRank)
  return PERCENT_BY_RANKS_BELOW[ranksBelow] ?? LOWEST_PERCENT
}
