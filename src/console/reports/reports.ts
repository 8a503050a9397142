import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { Text } from '../../../schema/common.ts'
import { AskedJobs, type AskedKind, type AskedLimits } from '../../audit/jobs/asked-jobs.ts'
import { readEventTime, resolveAsOf } from '../../audit/reports/period.ts'
import {
  foldInThread,
  foldTrialBalance,
  MAX_INLINE_FOLD,
  readTrialBalance,
  type TrialBalance,
} from '../../audit/reports/trial-balance.ts'
import { type AuditParts, orValidationFailed, parseAsOfParam } from '../../audit/routes/requests.ts'
import { headOf } from '../../db/head.ts'
import { RecentRead } from '../../db/queries/caches.ts'
import type { ReportDatabase } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import {
  amountCell,
  type Cell,
  formatUnits,
  formatWord,
  numberCell,
  statusCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { addressWith, eventCell } from '../layout/links.ts'
import { sendPage, sendPart } from '../layout/send-page.ts'
import { defineTemplate } from '../layout/templates.ts'
import {
  column,
  type List,
  listEnd,
  noFilters,
  numberColumn,
  querySchemaOf,
  showTable,
  type Table,
} from '../lists/list.ts'
import { addExports } from '../lists/list-page.ts'
import { actorIn, isForPart } from '../session/session-check.ts'
import { monthPages } from './month.ts'
import { type Months, readMonths } from './months.ts'

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
  /** The current balance; null for one of the past, which is folded from the ledger and loaded after the page. */
  readonly current: BalanceData | null
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
  const currentBalance = new RecentRead(async () => {
    const { db } = await services.chooseReportDatabase()
    return readCurrent(db)
  })
  scope.get('/reports', { schema: { querystring: Query } }, async (request, reply) => {
    const { as_of = '', before } = request.query
    const asOf = parseAsOfParam('as_of', as_of.trim() || undefined)
    const { db } = await services.chooseReportDatabase()
    const period = asOf && (await orValidationFailed(resolveAsOf(db, asOf, await headOf(db), 'as_of')))
    const [months, firstAt, current] = await Promise.all([
      readMonths(services.db, before === undefined ? null : Number(before), new Date().toISOString()),
      readEventTime(db, 1),
      period === null ? currentBalance.current() : null,
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
        current,
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

async function readCurrent(db: Kysely<Tables>): Promise<BalanceData> {
  const balance = await readTrialBalance(db)
  return showBalance(balance, await readEventTime(db, balance.position))
}

const PATH = '/console/reports/trial-balance'
/** A page that cannot be read at once is shown at once, with how far it is. */
const FIRST_WAIT_MS = 50

/** A trial balance as its template shows it. */
interface BalanceData {
  /** The end that it is as of, and the sum of each currency. */
  readonly facts: readonly (readonly [string, Cell])[]
  /** Currencies that do not sum to zero: the books are wrong. */
  readonly wrong: readonly string[]
  readonly table: Table
}

interface KindRow {
  readonly currency: string
  readonly kind: string
  readonly balance: bigint
  readonly count: number
  readonly position: number
}

/** A trial balance of the past, or how far it is and where that continues. */
type PastData =
  | { readonly balance: BalanceData }
  | { readonly balance: null; readonly events: number; readonly of: number; readonly href: string }

const pageTemplate = defineTemplate<PastData>('/reports/trial-balance.eta')
const partTemplate = defineTemplate<PastData>('/reports/past-balance.eta')

const rowsOf = ({ currencies, position }: TrialBalance): KindRow[] =>
  currencies.flatMap(({ currency, accounts }) => accounts.map((account) => ({ currency, position, ...account })))

type KindList = List<typeof noFilters, KindRow>

const shownList: Omit<KindList, 'read'> = {
  label: 'Trial balance',
  filters: noFilters,
  empty: 'Nothing has moved yet. Balances stand here once something was credited.',
  columns: [
    column('currency', 'Currency', ({ currency }) => wordCell(currency)),
    column('kind', 'Kind of account', ({ kind, currency, position }) => ({
      kind: 'text',
      text: kind,
      value: kind,
      href: addressWith('/console/accounts', { kind, currency, at: position }),
    })),
    numberColumn('balance', 'Balance', ({ currency, balance }) => amountCell(currency, balance)),
    numberColumn('accounts', 'Accounts', ({ count }) => numberCell(count)),
  ],
}

/** `at` is when the last event was that it includes, in microseconds; null for an empty ledger. */
function showBalance(balance: TrialBalance, at: number | null): BalanceData {
  const { currencies, position } = balance
  const sums = currencies.map(({ currency, total }): readonly [string, Cell] => [
    `Sum of ${formatWord(currency)}`,
    total === 0n ? statusCell('zero', 'good') : statusCell(`${formatUnits(currency, total)}, which is not zero`, 'bad'),
  ])
  const rows = rowsOf(balance)
  return {
    facts: position === 0 ? [] : [['As of event', eventCell(position)], ['Its time', timeCell(at)], ...sums],
    wrong: currencies.filter(({ total }) => total !== 0n).map(({ currency }) => formatWord(currency)),
    table: showTable(shownList, { path: PATH, query: {}, at: position, rows, next: null }),
  }
}

/** /console/reports/trial-balance: the balance as of a position, as a part of the page of reports or on a page of its own. */
function trialBalancePages(scope: App, services: ConsoleServices): void {
  const { chooseReportDatabase, audit } = services
  const balances = pastBalances(audit)
  const list: KindList = {
    ...shownList,
    // Any position can be asked for.
    check: () => Promise.resolve(),
    read: async ({ at, signal }, request) => {
      const database = await chooseReportDatabase()
      const asked = { database, position: at, startedBy: actorIn(request) }
      return { rows: rowsOf(await balances.whole(asked, signal ?? request.signal)), next: null }
    },
  }

  scope.get('/reports/trial-balance', { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const database = await chooseReportDatabase()
    const { at: position } = await listEnd(database.db, list, request.query)
    const isPart = isForPart(request)
    const read = async (): Promise<PastData> => {
      const [found, at] = await Promise.all([
        balances.look({ database, position, startedBy: actorIn(request) }, isPart ? undefined : FIRST_WAIT_MS),
        readEventTime(database.db, position),
      ])
      if (found.result !== null) return { balance: showBalance(found.result, at) }
      return { balance: null, ...found.progress, href: addressWith(PATH, { at: position }) }
    }
    if (isPart) return sendPart(request, reply, partTemplate, { page: request.url, read })
    return sendPage(request, reply, pageTemplate, { title: 'Trial balance', scripts: ['htmx'], data: await read() })
  })
  addExports(scope, '/reports/trial-balance', list, services)
}

/** Trial balances that are kept: those of the past never change. */
const MAX_KEPT = 100

interface AskedBalance {
  readonly database: ReportDatabase
  readonly position: number
  /** `staff:ann` */
  readonly startedBy: string
}

/** Trial balances of the past, folded from the ledger. */
export function pastBalances(
  { jobs, sealsFolder }: Pick<AuditParts, 'jobs' | 'sealsFolder'>,
  { maxInlineEvents = MAX_INLINE_FOLD, ...limits }: Partial<AskedLimits> & { readonly maxInlineEvents?: number } = {},
): AskedJobs<AskedBalance, TrialBalance> {
  const kept = new LRUCache<number, TrialBalance>({ max: MAX_KEPT })
  const keep = (balance: TrialBalance): TrialBalance => {
    kept.set(balance.position, balance)
    return balance
  }
  const kind: AskedKind<AskedBalance, TrialBalance> = {
    jobOf: ({ position, startedBy }) => ({ kind: 'trial-balance', subject: String(position), startedBy, of: position }),
    async short({ database, position }) {
      const known = kept.get(position)
      if (known !== undefined || position > maxInlineEvents) return known ?? null
      const { signal } = new AbortController()
      const context = { signal, onPlanned: () => {}, onScanned: () => {} }
      return keep(await foldTrialBalance(database.db, position, context))
    },
    work:
      ({ database, position }) =>
      async (_job, progress, signal) => {
        const result = keep(await foldInThread({ url: database.url, position, sealsFolder }, signal, progress))
        const wrong = result.currencies.filter(({ total }) => total !== 0n).map(({ currency }) => currency)
        const summary = wrong.length === 0 ? 'Every currency sums to zero.' : `Not zero: ${wrong.join(', ')}.`
        return { result, summary }
      },
  }
  return new AskedJobs(jobs, kind, limits)
}
