const INITIAL_BACKOFF_MS = 1_000
const MAX_DOUBLINGS = 20
/** A server that requests more is asked again after a day. */
const MAX_REQUESTED_MS = 86_400_000

/** Between half of a delay and all of it, so that what failed together is not retried together. */
const jittered = (ms: number, random: number): number => ms / 2 + (ms / 2) * random

/**
 * The delay after this many failures in a row (1 or more): doubled each time up to `maxMs`, and never less than the
 * server requested. `random` is between 0 and 1.
 */
export function backoffMs(failures: number, requestedMs: number, maxMs: number, random: number): number {
  const own = jittered(Math.min(maxMs, INITIAL_BACKOFF_MS * 2 ** Math.min(failures - 1, MAX_DOUBLINGS)), random)
  const requested = Math.min(requestedMs, MAX_REQUESTED_MS)
  return Math.ceil(own > requested ? own : requested + jittered(requested / 5, random))
}
