import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import { readEventTime, resolveAsOf } from '../../audit/reports/period.ts'
import { readTrialBalance } from '../../audit/reports/trial-balance.ts'
import { orValidationFailed, parseAsOfParam } from '../../audit/routes/query-parsing.ts'
import { headOf } from '../../db/head.ts'
import { RecentRead } from '../../db/queries/caches.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { ConsolePages } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { monthPages } from './month.ts'
import { type Months, readMonths } from './months.ts'
import { type BalanceData, showBalance, trialBalancePages } from './trial-balance.ts'

interface Chip {
  readonly title: string
  readonly href: string
  readonly isCurrent: boolean
}

interface ReportsData {
  readonly asOf: string
  /** Moments that are often asked for. */
  readonly chips: readonly Chip[]
  /** Says that the day that was asked for is not over; null otherwise. */
  readonly untilNow: string | null
  /** The present balance; null for one of the past, which is folded from the ledger and loaded after the page. */
  readonly present: BalanceData | null
  /** The balance of the past. */
  readonly past: { readonly position: number; readonly href: string } | null
  readonly months: Months
}

const template = defineTemplate<ReportsData>('/reports/reports.eta')

const Query = Type.Object({
  as_of: Type.Optional(Text(40)),
  /** Closed months before the closing at this position. */
  before: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
})

/** /console/reports: the trial balance as of a moment, and closing months. */
export const reportPages: ConsolePages = (scope, services) => {
  const presentBalance = new RecentRead(async () => {
    const { db } = await services.chooseReportDatabase()
    return readPresent(db)
  })
  scope.get('/reports', { schema: { querystring: Query } }, async (request, reply) => {
    const { as_of = '', before } = request.query
    const asOf = parseAsOfParam('as_of', as_of.trim() || undefined)
    const { db } = await services.chooseReportDatabase()
    const period = asOf && (await orValidationFailed(resolveAsOf(db, asOf, await headOf(db), 'as_of')))
    const [months, firstAt, present] = await Promise.all([
      readMonths(services.db, before === undefined ? null : Number(before), new Date().toISOString()),
      readEventTime(db, 1),
      period === null ? presentBalance.current() : null,
    ])
    const past = period && {
      position: period.last,
      href: addressWith('/console/reports/trial-balance', { at: period.last }),
    }
    return sendPage(request, reply, template, {
      title: 'Reports',
      scripts: past === null ? [] : ['htmx'],
      data: {
        asOf: as_of,
        chips: chipsOf(as_of, firstAt, new Date().toISOString()),
        untilNow: period?.untilNow?.en ?? null,
        present,
        past,
        months,
      },
    })
  })
  trialBalancePages(scope, services)
  monthPages(scope, services)
}

function chipsOf(asOf: string, firstAt: number | null, now: string): readonly Chip[] {
  const lastDay = new Date(Date.UTC(Number(now.slice(0, 4)), Number(now.slice(5, 7)) - 1, 0)).toISOString().slice(0, 10)
  return [
    { title: 'Now', value: '' },
    ...(firstAt !== null && isoMicros(firstAt).slice(0, 10) <= lastDay
      ? [{ title: 'End of last month', value: lastDay }]
      : []),
  ].map(({ title, value }) => ({
    title,
    href: `${addressWith('/console/reports', { as_of: value })}#trial-balance`,
    isCurrent: asOf.trim() === value,
  }))
}

async function readPresent(db: Kysely<Tables>): Promise<BalanceData> {
  const balance = await readTrialBalance(db)
  return showBalance(balance, await readEventTime(db, balance.position))
}
