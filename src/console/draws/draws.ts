import { Type } from '@sinclair/typebox'
import { AskedJobs } from '../../audit/jobs/asked-jobs.ts'
import type { FrequencyTest } from '../../audit/verify/draws/frequency-test.ts'
import { decorationById } from '../../features/gifts/reads.ts'
import type { ConsolePages } from '../console-services.ts'
import { formatUnits } from '../layout/cells.ts'
import { addressWith, pagePath } from '../layout/links.ts'
import { sendPage } from '../layout/send-page.ts'
import { defineTemplate } from '../layout/templates.ts'
import {
  idFilter,
  type List,
  listEnd,
  querySchemaOf,
  type ShownFilters,
  showTable,
  type Table,
  textFilter,
} from '../lists/list.ts'
import { addExports, addListPage } from '../lists/list-page.ts'
import { readPeriod, type ShownPeriod } from '../lists/period.ts'
import { actorIn } from '../session/session-check.ts'
import { drawPage } from './draw-page.ts'
import { type CountedPeriod, GiftCounter } from './gift-counts.ts'
import {
  describeResults,
  formatP,
  formatShare,
  type GiftResult,
  isRare,
  resultColumns,
  resultFilters,
} from './gift-results.ts'
import { sendList } from './lucky-sends.ts'

interface ShownOutcome {
  readonly multiplier: string
  readonly weight: string
  readonly published: string
  readonly observed: string
  readonly count: string
  /** As a share of the longest bar, from 0 to 100. */
  readonly publishedLength: number
  readonly observedLength: number
}

interface ShownOdds {
  readonly hash: string
  readonly draws: string
  readonly judgement: string
  readonly outcomes: readonly ShownOutcome[]
}

const resultsTemplate = defineTemplate<{
  readonly filters: ShownFilters
  readonly presets: readonly { readonly title: string; readonly href: string }[]
  /** The page of the gift in the catalogue; null for all gifts. */
  readonly giftHref: string | null
  readonly progress: Pick<CountedPeriod, 'events' | 'of'> & {
    readonly continueHref: string
    readonly isComplete: boolean
  }
  readonly summary: string | null
  readonly table: Table
  readonly odds: readonly ShownOdds[]
  readonly sendsHref: string
}>('/draws/draws.eta')

/** A page that cannot be counted at once is shown at once, with how far it is. */
const FIRST_WAIT_MS = 50

/** /console/draws: what the house won or lost by each gift, lucky sends, and each of them step by step. */
export const drawPages: ConsolePages = (scope, services) => {
  const { chooseReportDatabase, audit } = services
  const counter = new GiftCounter()
  const counts = new AskedJobs(audit.jobs, counter.kind)

  /** For exports: all of the period is counted. */
  const resultList: List<typeof resultFilters, GiftResult> = {
    label: 'Results by gift',
    filters: resultFilters,
    columns: resultColumns({ from: '', to: '' }),
    empty: 'No gift was sent in this period. Choose a longer one.',
    check: ({ query, db, at }) => readPeriod(db, query, at),
    async read({ query, db, at, signal }, request) {
      const period = await readPeriod(db, query, at)
      const asked = { db, period, startedBy: actorIn(request) }
      const counted = await counts.whole(asked, signal ?? request.signal)
      return { rows: await describeResults(db, counted.counts, giftOf(query)), next: null }
    },
  }

  scope.get(
    '/draws',
    {
      schema: {
        querystring: Type.Composite([
          querySchemaOf(resultList),
          Type.Object({ count: Type.Optional(Type.Literal('on')) }),
        ]),
      },
    },
    async (request, reply) => {
      const { query } = request
      const { db } = await chooseReportDatabase()
      const { at } = await listEnd(db, resultList, query)
      const period = await readPeriod(db, query, at)
      const { from, to } = period
      const isContinued = query.count === 'on'
      const asked = { db, period, startedBy: actorIn(request) }
      const { result } = await counts.look(asked, isContinued ? undefined : FIRST_WAIT_MS)
      const { events, of, ...counted } = result ?? counter.counted(period)
      const gift = giftOf(query)
      const rows = await describeResults(db, counted.counts, gift)
      const shown = { from, to, gift }
      const table = showTable(
        { label: resultList.label, empty: resultList.empty, columns: resultColumns({ from, to }) },
        // An export of what is not counted would count all of it before its first byte.
        { path: '/console/draws', query: shown, at, rows, next: null, hasExports: events === of },
      )
      return sendPage(request, reply, resultsTemplate, {
        title: 'Draws',
        scripts: events < of ? ['htmx'] : [],
        data: {
          filters: {
            action: '/console/draws',
            button: 'Show',
            fields: [
              { ...textFilter('from', 'From (day, time or position)', 40), value: from },
              { ...textFilter('to', 'To (empty: until now)', 40), value: to },
              { ...idFilter('gift', 'Gift id (empty: all)'), value: String(gift ?? '') },
            ],
          },
          presets: presetsOf(from, gift),
          giftHref: gift === null ? null : pagePath('gift', gift),
          progress: {
            events,
            of,
            isComplete: events === of,
            continueHref: addressWith('/console/draws', { ...shown, at, count: 'on' }),
          },
          summary: gift === null ? null : summaryOf(rows, gift, (await decorationById(db, gift))?.name, period),
          table,
          odds: gift === null ? [] : rows.flatMap(oddsOf),
          sendsHref: addressWith('/console/draws/sends', { ...shown, at }),
        },
      })
    },
  )
  addExports(scope, '/draws', resultList, services)

  addListPage(scope, services, {
    path: '/draws/sends',
    lead: 'Every send that was drawn, newest first. Each opens step by step, with the event behind every value.',
    list: sendList,
    filters: [
      textFilter('from', 'From (empty: this month)', 40),
      textFilter('to', 'To (empty: until now)', 40),
      idFilter('gift', 'Gift id'),
      idFilter('user', 'Sender (user id)'),
    ],
    before: [{ text: [{ href: '/console/draws', text: 'Results by gift, and observed against published odds' }] }],
  })

  drawPage(scope, services)
}

const giftOf = ({ gift = '' }: { readonly gift?: string }): number | null => (gift === '' ? null : Number(gift))

/** The month of the period, or else the current one; the months before and after it; and everything. */
function presetsOf(from: string, gift: number | null) {
  const now = new Date().toISOString().slice(0, 7)
  const month = /^(\d{4})-(\d\d)/.exec(from) ?? /^(\d{4})-(\d\d)/.exec(now)
  const link = (title: string, begin: string, end: string) => ({
    title,
    href: addressWith('/console/draws', { from: begin, to: end, gift }),
  })
  const monthAt = (offset: number) => {
    const start = new Date(Date.UTC(Number(month?.[1]), Number(month?.[2]) - 1 + offset, 1))
    const end = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0))
    const [begin, last] = [start, end].map((day) => day.toISOString().slice(0, 10))
    return link(begin?.slice(0, 7) ?? '', begin ?? '', last ?? '')
  }
  const months = [monthAt(-1), monthAt(0), monthAt(1)].filter(({ title }) => title <= now)
  return [...months, link('Since the beginning', '1', '')]
}

/** Whether the house won or lost by a gift, in a sentence. */
function summaryOf(
  rows: readonly GiftResult[],
  gift: number,
  name: string | undefined,
  { from, to }: ShownPeriod,
): string {
  const when = `From ${/^\d+$/.test(from) ? `event ${from}` : from} ${to === '' ? 'until now' : `to ${to}`}`
  const what = `gift ${gift}${name === undefined ? '' : ` (${name})`}`
  if (rows.length === 0) return `${when} nobody sent ${what}.`
  const [paidIn, paidOut, house] = (['paidIn', 'paidOut', 'house'] as const).map((field) =>
    rows.reduce((sum, row) => sum + row[field], 0n),
  )
  const amount = (value = 0n): string => formatUnits('diamonds', value < 0n ? -value : value)
  const result =
    house === 0n
      ? 'neither won nor lost'
      : `${house !== undefined && house > 0n ? 'won' : 'lost'} ${amount(house)} diamonds`
  return `${when} the house ${result} by ${what}: ${amount(paidIn)} paid in, ${amount(paidOut)} paid out.`
}

const chiSquareOf = ({ statistic, degrees }: FrequencyTest): string =>
  degrees === 0
    ? 'Too few draws for a chi-square'
    : `Chi-square ${statistic.toFixed(2)} with ${degrees} degrees of freedom`

/** Observed against published odds, as bars; none for a gift without draws. */
function oddsOf({ odds_hash, draws, outcomes, test }: GiftResult): readonly ShownOdds[] {
  if (odds_hash === null || test === null) return []
  const observedOf = (observed: number): number => (draws === 0 ? 0 : observed / draws)
  const longest = Math.max(...outcomes.map(({ observed, expected }) => Math.max(expected, observedOf(observed))))
  const lengthOf = (share: number): number => Math.round((1_000 * share) / longest) / 10
  return [
    {
      hash: odds_hash,
      draws: draws.toLocaleString('en'),
      judgement:
        test.p === null
          ? 'There is nothing to judge by.'
          : `${chiSquareOf(test)}, p = ${formatP(test)}. ` +
            (isRare(test)
              ? 'Fair draws deviate so much once in a thousand such periods, or less.'
              : 'Fair draws deviate as much or more in at most that share of such periods.'),
      outcomes: outcomes.map(({ multiplier, weight, observed, expected }) => ({
        multiplier: `${multiplier} × stake`,
        weight: weight.toLocaleString('en'),
        published: formatShare(expected),
        observed: draws === 0 ? '—' : formatShare(observedOf(observed)),
        count: observed.toLocaleString('en'),
        publishedLength: lengthOf(expected),
        observedLength: lengthOf(observedOf(observed)),
      })),
    },
  ]
}
