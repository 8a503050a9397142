import type { Micros } from '../../../ledger/rules/time.ts'

/** Seconds since 1970, UTC. Privileges end on a whole second, so the time shown is exactly the time that decides. */
export type Seconds = number

const SECONDS_PER_DAY: Seconds = 86_400
/** 9999-12-31 23:59:59, the last time that `YYYY-MM-DD HH:MM:SS` can express. */
const MAX_VALID_UNTIL: Seconds = 253_402_300_799

/** The second that contains a moment. */
export const toSeconds = (now: Micros): Seconds => Math.floor(now / 1_000_000)

/** The second `days` days after `from`; null beyond the year 9999. */
export function daysAfter(from: Seconds, days: number): Seconds | null {
  const until = from + days * SECONDS_PER_DAY
  return until > MAX_VALID_UNTIL ? null : until
}

/** Formats as `YYYY-MM-DD HH:MM:SS`. */
export const formatValidUntil = (until: Seconds): string =>
  new Date(until * 1000).toISOString().slice(0, 19).replace('T', ' ')
