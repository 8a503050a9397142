import type { Kysely } from 'kysely'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { type ResolvedPeriod, readEventTime } from '../reports/period.ts'

/** What a report of a command begins with. */
export interface Heading {
  /** The command with its flags. */
  readonly asked: string
  /** The last event that the report includes; 0 when there is none. */
  readonly position: number
  /** When that event happened, in ISO 8601 with microseconds; null without one. */
  readonly at: string | null
  /** Says that the last day that was asked for has not ended; else null. */
  readonly until_now: string | null
}

/** The heading of a report on all events up to a position. */
export const readHeading = async (
  db: Kysely<Tables>,
  asked: string,
  position: number,
  untilNow: LocalizedText | null = null,
): Promise<Heading> => ({ asked, position, at: await readIsoTime(db, position), until_now: untilNow?.en ?? null })

/** The heading of a report on a period, which also says where that begins. */
export interface PeriodHeading extends Heading {
  readonly from_position: number
  /** Null for a period without events. */
  readonly from_at: string | null
}

export async function readPeriodHeading(
  db: Kysely<Tables>,
  asked: string,
  { first, last, untilNow }: ResolvedPeriod,
): Promise<PeriodHeading> {
  const [from_at, heading] = await Promise.all([
    first > last ? null : readIsoTime(db, first),
    readHeading(db, asked, last, untilNow),
  ])
  return { ...heading, from_position: first, from_at }
}

/** `trial-balance --as-of 2026-11-30`, `as of position 45, 2026-11-22T23:03:21.457359Z`. */
export const formatHeading = ({ asked, position, at, until_now }: Heading): string[] => [
  asked,
  at === null ? 'as of position 0, before the first event' : `as of position ${position}, ${at}`,
  ...(until_now === null ? [] : [until_now]),
]

export const formatPeriodHeading = ({
  asked,
  from_position: first,
  from_at,
  position: last,
  at,
  until_now,
}: PeriodHeading): string[] => [
  asked,
  first > last
    ? `no events, after position ${last}${at === null ? '' : `, ${at}`}`
    : first === last
      ? `position ${first}, ${at}`
      : `positions ${first} to ${last}, ${from_at} to ${at}`,
  ...(until_now === null ? [] : [until_now]),
]

async function readIsoTime(db: Kysely<Tables>, position: number): Promise<string | null> {
  const at = await readEventTime(db, position)
  return at === null ? null : isoMicros(at)
}
