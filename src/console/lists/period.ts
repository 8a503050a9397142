import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import { type ResolvedPeriod, readEventTime, resolvePeriod } from '../../audit/reports/period.ts'
import { orValidationFailed, parseAsOfParam } from '../../audit/routes/requests.ts'
import { PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { INDEX_CURSOR } from '../../ledger/indexes/index-writer.ts'
import { isoMicros } from '../../ledger/rules/time.ts'

/** Days, times or positions, both included; the empty text of a form's field is none. */
export const periodFilters = { from: Type.Optional(Text(40)), to: Type.Optional(Text(40)) }

export interface PeriodQuery {
  readonly from?: string
  readonly to?: string
}

/** A period as it was asked for, and its positions. */
export interface ShownPeriod extends Pick<ResolvedPeriod, 'first' | 'last'> {
  readonly from: string
  /** Empty: up to now. */
  readonly to: string
}

/** The period; without a beginning, from the first event on. Throws 422 for days that do not exist, and an end before it begins. */
export async function readBounds(
  db: Kysely<Tables>,
  { from = '', to = '' }: PeriodQuery,
  at: number,
): Promise<Pick<ResolvedPeriod, 'first' | 'last'>> {
  const bounds = {
    from: parseAsOfParam('from', from === '' ? undefined : from),
    to: parseAsOfParam('to', to === '' ? undefined : to),
  }
  return at === 0 ? { first: 1, last: 0 } : orValidationFailed(resolvePeriod(db, bounds, at))
}

/** As `readBounds`; without a beginning, from that of the current month. */
export async function readPeriod(
  db: Kysely<Tables>,
  { from = '', to = '' }: PeriodQuery,
  at: number,
): Promise<ShownPeriod> {
  const now = at === 0 || from !== '' ? null : await readEventTime(db, at)
  const begin = now === null ? from : monthOf(isoMicros(now))
  const { first, last } = await readBounds(db, { from: begin, to }, at)
  return { from: begin, to, first, last }
}

/** The first day of a month. */
const monthOf = (iso: string): string => `${iso.slice(0, 7)}-01`

/** Where the ledger ends, and where its indexes do. */
export interface LedgerEnds {
  readonly head: number
  readonly indexed: number
}

/** The event that a page ends with. */
export interface PageEnd {
  readonly at: number
  /** Why it ends before the ledger does; undefined where it does not. */
  readonly note: string | undefined
}

/** Events after the end of the indexes that a page searches one by one: fewer than its reads would (`MAX_UNINDEXED_EVENTS`). */
const MAX_PAGE_LAG_EVENTS = 1_000

const ends = new PreparedStatement<LedgerEnds>(
  'ends of the ledger',
  `select h.position as head, coalesce((select position from ledger_cursors where name = $1), 0) as indexed
   from ledger_head h`,
)

export async function readLedgerEnds(db: Kysely<Tables>): Promise<LedgerEnds> {
  const [row] = await ends.execute(db, [INDEX_CURSOR])
  if (row === undefined) throw new Error('the ledger has no head')
  return row
}

/**
 * Where a page ends: at the position of its address, and else with the ledger. A page that finds its rows by the indexes
 * ends with them instead while they are far behind, as under a long burst of gifts: to search what comes after them
 * would take longer with each event.
 */
export function pageEnd({ head, indexed }: LedgerEnds, asked: string | undefined, needsIndex: boolean): PageEnd {
  if (asked !== undefined) return { at: Math.min(head, Number(asked)), note: undefined }
  if (!needsIndex || head - indexed <= MAX_PAGE_LAG_EVENTS) return { at: head, note: undefined }
  return { at: indexed, note: `Up to event ${indexed.toLocaleString('en')}. What came after it is being indexed now.` }
}
