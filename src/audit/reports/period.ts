import { type Kysely, sql } from 'kysely'
import type { LocalizedText } from '../../../schema/languages.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { lastPositionUntil } from '../../ledger/indexes/last-position-until.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import { auditMessages } from '../messages.ts'
import { InvalidQuery } from './query-context.ts'

/** A range of positions, both included; `last` = `first` - 1 when it is empty. */
export interface Period {
  readonly first: number
  readonly last: number
}

/** A part of the ledger that somebody asked for. */
export interface ResolvedPeriod extends Period {
  /** Says that the last day has not ended, so that the period ends now; else null. */
  readonly untilNow: LocalizedText | null
}

export interface PeriodQuery {
  /** Null: from the beginning. */
  readonly from: AsOf | null
  /** Null: up to now. */
  readonly to: AsOf | null
  /** What the end is called where it was asked for; default: to. */
  readonly endField?: 'to' | 'as-of'
}

/**
 * The positions of a period of a ledger that ends at `head`. All events of a transaction have the same time, so no time
 * separates them. Throws InvalidQuery for a position beyond the head, and for an end before the start.
 */
export async function resolvePeriod(
  db: Kysely<Tables>,
  { from, to, endField = 'to' }: PeriodQuery,
  head: number,
): Promise<ResolvedPeriod> {
  if (from !== null && to !== null && 'begins' in from && 'begins' in to && from.begins > to.ends)
    throw endsBeforeStart(endField)
  const { last, untilNow } = to === null ? { last: head, untilNow: null } : await resolveEnd(db, to, head)
  if (from === null) return { first: 1, last, untilNow }
  if ('position' in from) {
    if (from.position > last) throw from.position > head ? beyondHead('from', head) : endsBeforeStart(endField)
    return { first: from.position, last, untilNow }
  }
  const first = (await lastPositionUntil(db, from.begins - 1, head)) + 1
  if (first > last + 1) throw endsBeforeStart(endField)
  return { first, last, untilNow }
}

/** The end of a period, which may be later than now: the last day of a month that has not ended. */
async function resolveEnd(
  db: Kysely<Tables>,
  to: AsOf,
  head: number,
): Promise<Pick<ResolvedPeriod, 'last' | 'untilNow'>> {
  if ('position' in to) {
    if (to.position > head) throw beyondHead('to', head)
    return { last: to.position, untilNow: null }
  }
  const { now } = await readBounds(db, head)
  return { last: await lastPositionUntil(db, to.ends, head), untilNow: formatUntilNow(to.ends, now) }
}

/**
 * The beginning of the ledger up to a point in it. Throws InvalidQuery with the ledger's bounds for a point that it does
 * not have: beyond its head, wholly before its first event, or beginning in the future.
 */
export async function resolveAsOf(
  db: Kysely<Tables>,
  asOf: AsOf,
  head: number,
  field: string,
): Promise<ResolvedPeriod> {
  if ('position' in asOf) {
    if (asOf.position > head) throw beyondHead(field, head)
    return { first: 1, last: asOf.position, untilNow: null }
  }
  const { firstAt, lastAt, now } = await readBounds(db, head)
  if (firstAt === null || lastAt === null) throw new InvalidQuery(field, auditMessages.no_events)
  const bounds = [isoMicros(firstAt), isoMicros(lastAt), head] as const
  if (asOf.begins > now) throw new InvalidQuery(field, auditMessages.in_future(...bounds))
  if (asOf.ends < firstAt) throw new InvalidQuery(field, auditMessages.before_first_event(...bounds))
  return { first: 1, last: await lastPositionUntil(db, asOf.ends, head), untilNow: formatUntilNow(asOf.ends, now) }
}

const formatUntilNow = (ends: Micros, now: Micros): LocalizedText | null =>
  ends > now ? auditMessages.until_now(isoMicros(ends).slice(0, 10), isoMicros(now)) : null

interface Bounds {
  /** Times of the first and last event; null when there are none. */
  readonly firstAt: Micros | null
  readonly lastAt: Micros | null
  /** By the database's clock, and not before the last event. */
  readonly now: Micros
}

async function readBounds(db: Kysely<Tables>, head: number): Promise<Bounds> {
  const { rows } = await sql<Bounds>`
    select ${micros('min(at)')} as "firstAt", ${micros('max(at)')} as "lastAt",
           ${micros('greatest(clock_timestamp(), max(at))')} as now
    from ledger_events where position in (1, ${head})`.execute(db)
  const [bounds] = rows
  if (bounds === undefined) throw new Error('the database answered no row')
  return bounds
}

/** When an event happened; null without such an event. */
export const readEventTime = async (db: Kysely<Tables>, position: number): Promise<Micros | null> =>
  (await readEventTimes(db, [position])).get(position) ?? null

/** When some events happened, by position. */
export async function readEventTimes(
  db: Kysely<Tables>,
  positions: readonly number[],
): Promise<ReadonlyMap<number, Micros>> {
  const events = await db
    .selectFrom('ledger_events')
    .select(['position', micros('at').as('at')])
    .where('position', '=', sql<number>`any (${[...positions]}::bigint[])`)
    .execute()
  return new Map(events.map(({ position, at }) => [position, at]))
}

const beyondHead = (field: string, head: number): InvalidQuery =>
  new InvalidQuery(field, auditMessages.ledger_end(head))
const endsBeforeStart = (field: string): InvalidQuery => new InvalidQuery(field, auditMessages.before_from)

/** A point in the ledger as people write it: an event's position, or a time (an instant, or a whole day in UTC). */
export type AsOf =
  | { readonly position: number }
  /** From `begins` to `ends`, both included; the same for an instant. */
  | { readonly begins: Micros; readonly ends: Micros }

export const AS_OF_FORMAT = 'a position (34), a day (2026-11-21) or a time in UTC (2026-11-21T08:00:00Z)'

const asOfPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(?:Z|([+-])(\d\d):(\d\d))?)?$/
const DAY_MICROS = 86_400_000_000
/** The offset of Kiribati, which is furthest from UTC. */
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
