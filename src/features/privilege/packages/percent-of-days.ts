/** Percentage of a card's days that is added, by how many ranks the card is below the active privilege. */
const PERCENT_BY_RANKS_BELOW = [100, 45, 25] as const
const LOWEST_PERCENT = 10

/** Percentage of a card's days that activation adds. A card of a higher rank replaces the privilege and counts in full. */
export function percentOfDays(runningRank: number, cardRank: number): number {
  const ranksBelow = Math.max(0, runningRank - cardRank)
  return PERCENT_BY_RANKS_BELOW[ranksBelow] ?? LOWEST_PERCENT
}
