const FIRST_MS = 1_000
const DOUBLINGS = 20

/** Somewhere between half of a time and all of it, so that what failed together does not come back together. */
const spread = (ms: number, chance: number): number => ms / 2 + (ms / 2) * chance

/**
 * How long to wait after so many failures in a row (from 1), in milliseconds: twice as long each time up to `most`,
 * and never less than was asked for. `chance` from 0 to 1.
 */
export function backOffMs(failures: number, askedMs: number, most: number, chance: number): number {
  const own = spread(Math.min(most, FIRST_MS * 2 ** Math.min(failures - 1, DOUBLINGS)), chance)
  const asked = Math.min(askedMs, LONGEST_ASKED_MS)
  return Math.ceil(own > asked ? own : asked + spread(asked / 5, chance))
}

/** Whoever asks for more is asked again after a day. */
const LONGEST_ASKED_MS = 86_400_000
