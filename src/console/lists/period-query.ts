import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import { type ResolvedPeriod, readEventTime, resolvePeriod } from '../../audit/reports/period.ts'
import { orValidationFailed, parseAsOfParam } from '../../audit/routes/requests.ts'
import type { Tables } from '../../db/tables.ts'
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

/** As `readBounds`; without a beginning, from that of the present month. */
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
