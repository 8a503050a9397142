import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import type { Period } from '../../audit/reports/period.ts'
import { resolveAsOf } from '../../audit/reports/period.ts'
import { orValidationFailed, parseAsOfParam } from '../../audit/routes/query-parsing.ts'
import type { Tables } from '../../db/tables.ts'
import { type PeriodQuery, periodFilters, readBounds } from '../lists/period-query.ts'

export const accountFilters = Type.Object({ ...periodFilters, as_of: Type.Optional(Text(40)) })

export interface AccountPeriod extends Period {
  /** The position that balance and holds are shown as of: that of `as_of`, and else the end of the period. */
  readonly asOf: number
}

/** What an account's page shows: the movements of a period, which ends where the page is shown as of. */
export async function resolveAccountPeriod(
  db: Kysely<Tables>,
  { as_of, ...texts }: PeriodQuery & { readonly as_of?: string },
  at: number,
): Promise<AccountPeriod> {
  const asOf = parseAsOfParam('as_of', as_of || undefined)
  const end = asOf === null ? at : (await orValidationFailed(resolveAsOf(db, asOf, at, 'as_of'))).last
  const period = await readBounds(db, texts, end)
  return { first: period.first, last: period.last, asOf: asOf === null ? period.last : end }
}
