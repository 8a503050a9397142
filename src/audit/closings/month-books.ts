import type { Kysely } from 'kysely'
import type { MonthClosing } from '../../../schema/closings.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { headOf } from '../../db/head.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { refusalResponseOf } from '../../domain.ts'
import { monthEnds, monthRefusal } from '../../features/closings/closing.ts'
import { findClosing, newestClosings } from '../../features/closings/reads.ts'
import { lastPositionUntil } from '../../ledger/indexes/last-position-until.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import { readEventTime } from '../reports/period.ts'

/** The events that the closing of a month covers, and whether it can be closed. */
export interface MonthBooks {
  /** `2026-10` */
  readonly month: string
  /** After the last position of the closing before; 1 for the first closing. `last` = `first` - 1 where nothing happened. */
  readonly first: number
  readonly last: number
  /** The ledger's hash at `last`; null before its first event. */
  readonly hash: string | null
  /** Times of the first and the last event, ISO 8601 in UTC with microseconds; null without events. */
  readonly first_at: string | null
  readonly last_at: string | null
  /** The closing that this one begins from; null for the first one. */
  readonly previous: MonthClosing | null
  /** The month's own closing; null while it is open. */
  readonly closing: MonthClosing | null
  /** Why it cannot be closed, as a code and a sentence; null when it can. */
  readonly refusal: { readonly code: string; readonly message: LocalizedText } | null
}

/** Reads what a month's closing covers, from the primary; `month` is YYYY-MM. */
export async function readMonthBooks(db: Kysely<Tables>, month: string): Promise<MonthBooks> {
  const [head, closing, newest, now] = await Promise.all([
    headOf(db),
    findClosing(db, month),
    newestClosings(db, 1),
    readNow(db),
  ])
  const previous = closing === null ? (newest[0] ?? null) : await closingBefore(db, closing)
  const first = (previous?.position ?? 0) + 1
  const last = closing?.position ?? Math.max(first - 1, await lastPositionUntil(db, monthEnds(month), head))
  const event = await db.selectFrom('ledger').select('hash').where('position', '=', last).executeTakeFirst()
  const code = monthRefusal(month, { closed: closing !== null, last: newest[0] ?? null, now, position: last })
  return {
    month,
    first,
    last,
    hash: event?.hash ?? null,
    first_at: first > last ? null : await timeOf(db, first),
    last_at: first > last ? null : await timeOf(db, last),
    previous,
    closing,
    refusal: code === null ? null : { code, message: refusalResponseOf({ refusal: code }).message },
  }
}

const closingBefore = async (db: Kysely<Tables>, { id }: MonthClosing): Promise<MonthClosing | null> =>
  (await newestClosings(db, 1, id))[0] ?? null

async function timeOf(db: Kysely<Tables>, position: number): Promise<string | null> {
  const at = await readEventTime(db, position)
  return at === null ? null : isoMicros(at)
}

/** The time that a command would get. */
async function readNow(db: Kysely<Tables>): Promise<Micros> {
  const { now } = await db
    .selectFrom('ledger_head')
    .select(micros('greatest(clock_timestamp(), at)').as('now'))
    .executeTakeFirstOrThrow()
  return now
}

/** A step of a closing that cannot begin now; `code` is that of the refusal, whose sentence is the message. */
export class ClosingRefused extends Error {
  override readonly name = 'ClosingRefused'
  readonly code: string

  constructor(code: string) {
    super(refusalResponseOf({ refusal: code }).message.en)
    this.code = code
  }
}
