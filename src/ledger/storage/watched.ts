import { isAt } from './bytes/names.ts'

/** What names of dollar accounts end with, of either wallet, and what those of games begin with. */
const ENDING = 'dollars'
const BEGINNING = 'game:'

/**
 * Whether evolvers may look at the balance of an account: of dollars something may be on hold, and a game holds what its
 * players staked. A replay of all events keeps the others where no meaning is needed for it.
 */
export const isWatched = (name: string): boolean => name.endsWith(ENDING) || name.startsWith(BEGINNING)

/** As `isWatched`, of a name that stands in bytes. */
export const isWatchedAt = (bytes: Buffer, start: number, length: number): boolean =>
  (length >= ENDING.length && isAt(ENDING, bytes, start + length - ENDING.length)) ||
  (length >= BEGINNING.length && isAt(BEGINNING, bytes, start))
