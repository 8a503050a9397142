import { equalsAt } from './binary-rows/interned-names.ts'

/** How the names of dollar accounts, of either wallet, end, and how those of games begin. */
const DOLLAR_SUFFIX = 'dollars'
const GAME_PREFIX = 'game:'

/**
 * Whether evolvers may read the balance of an account: dollars may have holds, and a game has its players' stakes. A
 * replay may keep all other balances outside its state, where they are cheaper.
 */
export const isReadByEvolvers = (name: string): boolean => name.endsWith(DOLLAR_SUFFIX) || name.startsWith(GAME_PREFIX)

/** As `isReadByEvolvers`, for a name in a buffer. */
export const isReadByEvolversAt = (bytes: Buffer, start: number, length: number): boolean =>
  (length >= DOLLAR_SUFFIX.length && equalsAt(DOLLAR_SUFFIX, bytes, start + length - DOLLAR_SUFFIX.length)) ||
  (length >= GAME_PREFIX.length && equalsAt(GAME_PREFIX, bytes, start))
