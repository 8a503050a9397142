/** What names of dollar accounts end with, of either wallet, and what those of games begin with. */
const ENDING = 'dollars'
const BEGINNING = 'game:'

/**
 * Whether evolvers may look at the balance of an account: of dollars something may be on hold, and a game holds what its
 * players staked. A replay of all events keeps the others where no meaning is needed for it.
 */
export const isWatched = (name: string): boolean => name.endsWith(ENDING) || name.startsWith(BEGINNING)

/** As `isWatched`, of a name that stands in bytes. */
export function isWatchedAt(bytes: Buffer, start: number, length: number): boolean {
  return (
    (length >= ENDING.length && has(bytes, start + length - ENDING.length, ENDING)) ||
    (length >= BEGINNING.length && has(bytes, start, BEGINNING))
  )
}

/** Whether some bytes are those letters. Read from behind, where names differ most. */
function has(bytes: Buffer, at: number, letters: string): boolean {
  for (let i = letters.length - 1; i >= 0; i -= 1) if (bytes[at + i] !== letters.charCodeAt(i)) return false
  return true
}
