import { equalsAt } from './bytes/interned-names.ts'

/** What names of dollar accounts end with, of either wallet, and what those of games begin with. */
const DOLLAR_SUFFIX = 'dollars'
const GAME_PREFIX = 'game:'

/**
 * Whether evolvers may look at the balance of an account: of dollars something may be on hold, and a game holds what its
 * players staked. A replay of all events keeps the others where no meaning is needed for it.
 */
export const isReadByEvolvers = (name: string): boolean => name.endsWith(DOLLAR_SUFFIX) || name.startsWith(GAME_PREFIX)

/** As `isWatched`, of a name that stands in bytes. */
export const isReadByEvolversAt = (bytes: Buffer, start: number, length: number): boolean =>
  (length >= DOLLAR_SUFFIX.length && equalsAt(DOLLAR_SUFFIX, bytes, start + length - DOLLAR_SUFFIX.length)) ||
  (length >= GAME_PREFIX.length && equalsAt(GAME_PREFIX, bytes, start))
