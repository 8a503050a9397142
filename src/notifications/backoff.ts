const INITIAL_BACKOFF_MS = 1_000
const MAX_DOUBLINGS = 20

/** Somewhere between half of a time and all of it, so that what failed together does not come back together. */
const jittered = (ms: number, random: number): number => ms / 2 + (ms / 2) * random

/**
 * How long to wait after so many failures in a row (from 1), in milliseconds: twice as long each time up to `most`,
 * and never less than was asked for. `chance` from 0 to 1.
 */
export function backoffMs(failures: number, requestedMs: number, maxMs: number, random: number): number {
  const own = jittered(Math.min(maxMs, INITIAL_BACKOFF_MS * 2 ** Math.min(failures - 1, MAX_DOUBLINGS)), random)
  const requested = Math.min(requestedMs, MAX_REQUESTED_MS)
  return Math.ceil(own > requested ? own : requested + jittered(requested / 5, random))
}

/** Whoever asks for more is asked again after a day. */
const MAX_REQUESTED_MS = 86_400_000
