import type { Micros } from '../../ledger/rules/time.ts'

/** A point in the ledger as people write it: an event's position, or a time (an instant, or a whole day in UTC). */
export type AsOf =
  | { readonly position: number }
  /** From `begins` to `ends`, both included; the same for an instant. */
  | { readonly begins: Micros; readonly ends: Micros }

export const AS_OF_FORMAT = 'a position (34), a day (2026-11-21) or a time in UTC (2026-11-21T08:00:00Z)'

const asOfPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(?:Z|([+-])(\d\d):(\d\d))?)?$/
const DAY_MICROS = 86_400_000_000
/** Of the time in Kiribati, which is furthest from UTC. */
const MAX_ZONE_HOURS = 14

/** Null when the text is none of them. A time without a zone is in UTC. */
export function parseAsOf(text: string): AsOf | null {
  if (/^\d+$/.test(text)) {
    const position = Number(text)
    return position >= 1 && Number.isSafeInteger(position) ? { position } : null
  }
  const parts = asOfPattern.exec(text)
  if (parts === null) return null
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHour, zoneMinute] = parts
  const numbers = [year, month, day, hour, minute, second].map((part) => Number(part ?? 0))
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = numbers
  const date = new Date(Date.UTC(y, mo - 1, d, h, mi, s))
  // `Date` turns a time that does not exist (30 February, 25:00) into another one.
  const parsed = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours()]
  if (![...parsed, date.getUTCMinutes(), date.getUTCSeconds()].every((part, i) => part === numbers[i])) return null
  const begins = date.getTime() * 1000 + Number((fraction ?? '').padEnd(6, '0'))
  if (hour === undefined) return { begins, ends: begins + DAY_MICROS - 1 }
  if (Number(zoneHour ?? 0) > MAX_ZONE_HOURS || Number(zoneMinute ?? 0) > 59) return null
  const zone = (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0)) * 60_000_000 * (sign === '-' ? -1 : 1)
  return { begins: begins - zone, ends: begins - zone }
}
