import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import type { Period } from '../../audit/reports/period.ts'
import { resolveAsOf, resolvePeriod } from '../../audit/reports/period.ts'
import { orValidationFailed, parseAsOfParam } from '../../audit/routes/query-parsing.ts'
import type { Tables } from '../../db/tables.ts'

/** Each a position, a day or a time; the empty text of a form's field is none. */
export const periodFilters = {
  from: Type.Optional(Text(40)),
  to: Type.Optional(Text(40)),
}

export const accountFilters = Type.Object({ ...periodFilters, as_of: Type.Optional(Text(40)) })

interface PeriodTexts {
  readonly from?: string
  readonly to?: string
}

/** A period of the ledger up to `at`, both ends included. Throws 422 for what is none. */
export const resolveTexts = (db: Kysely<Tables>, { from, to }: PeriodTexts, at: number): Promise<Period> => {
  const bounds = { from: parseAsOfParam('from', from || undefined), to: parseAsOfParam('to', to || undefined) }
  return orValidationFailed(resolvePeriod(db, bounds, at))
}

export interface AccountPeriod extends Period {
  /** The position that balance and holds are shown as of: that of `as_of`, and else the end of the period. */
  readonly asOf: number
}

/** What an account's page shows: the movements of a period, which ends where the page is shown as of. */
export async function resolveAccountPeriod(
  db: Kysely<Tables>,
  { as_of, ...texts }: PeriodTexts & { readonly as_of?: string },
  at: number,
): Promise<AccountPeriod> {
  const asOf = parseAsOfParam('as_of', as_of || undefined)
  const end = asOf === null ? at : (await orValidationFailed(resolveAsOf(db, asOf, at, 'as_of'))).last
  const period = await resolveTexts(db, texts, end)
  return { first: period.first, last: period.last, asOf: asOf === null ? period.last : end }
}
