import { MIN_AHEAD_SECONDS } from '../../db/head.ts'
import { RecentRead } from '../../db/queries/caches.ts'
import type { Instance } from '../../db/queries/instances.ts'
import type { ConsolePages } from '../console-services.ts'
import {
  amountCell,
  formatAge,
  formatCount,
  formatUnits,
  formatWord,
  numberCell,
  sentenceCase,
  statusCell,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { addressWith, eventPath, pagePath } from '../layout/links.ts'
import { sendPage, sendPart } from '../layout/send-page.ts'
import { defineTemplate } from '../layout/templates.ts'
import { numberPart, type PartColumn, part, partTable, type Table } from '../lists/list.ts'
import { type MonthsToClose, monthPath } from '../reports/months.ts'
import {
  type CurrencyFigures,
  type HomeFigures,
  readHomeFigures,
  shownKinds,
  type WaitingWithdrawals,
} from './figures.ts'

/** One figure of the page. */
interface Figure {
  readonly name: string
  readonly value: string
  readonly href: string
  /** A second line. */
  readonly note: string
}

interface HomeData {
  readonly figures: readonly Figure[]
  /** The currencies that do not sum to zero. */
  readonly unbalanced: readonly string[]
  readonly maintenance: boolean
  /** How far the ledger's time is ahead of the database's clock; null while it is not. */
  readonly ahead: string | null
  readonly currencies: Table
  readonly withdrawals: Table
  /** Where the money of the withdrawals is; null without any. */
  readonly withdrawalsNote: string | null
  readonly instances: Table
}

const template = defineTemplate<HomeData>('/overview/home.eta')
const figuresTemplate = defineTemplate<HomeData>('/overview/figures.eta')

/** An instance says every few seconds that it is there. */
const SILENT_SECONDS = 30

/** /console: the state of the books and of the service. */
export const homePages: ConsolePages = (scope, services) => {
  const { chooseReportDatabase, audit } = services
  // Many look at this page at once, and every account is added up for it.
  const figures = new RecentRead(async () => {
    const { db } = await chooseReportDatabase()
    return show(await readHomeFigures(db, audit), Date.now())
  })
  scope.get('/', async (request, reply) =>
    sendPage(request, reply, template, { title: 'Home', data: await figures.current(), scripts: ['htmx'] }),
  )
  scope.get('/figures', (request, reply) =>
    sendPart(request, reply, figuresTemplate, { page: '/console', read: () => figures.current() }),
  )
}

const kindTitles: Readonly<Record<(typeof shownKinds)[number], string>> = {
  issuance: 'Issued',
  purchases: 'Purchases',
  user: 'Users',
  debt: 'Debts',
  room: 'Rooms',
  house: 'House',
  game: 'In games',
  withdrawal: 'In withdrawals',
  settled: 'Settled',
}

const currencyColumns: readonly PartColumn<CurrencyFigures>[] = [
  part('Currency', ({ currency }) => wordCell(currency, addressWith('/console/accounts', { currency }))),
  ...shownKinds.map((kind) =>
    numberPart(kindTitles[kind], ({ currency, byKind }: CurrencyFigures) =>
      amountCell(currency, byKind[kind], addressWith('/console/accounts', { kind, currency })),
    ),
  ),
  part('Sum', ({ currency, total }) =>
    total === 0n ? statusCell('0 balanced', 'good') : { ...amountCell(currency, total), kind: 'status', tone: 'bad' },
  ),
]

const withdrawalColumns: readonly PartColumn<WaitingWithdrawals>[] = [
  part('Status', ({ status }) => statusCell(status, 'waiting', addressWith('/console/withdrawals', { status }))),
  part('Wallet', ({ wallet }) => wordCell(wallet)),
  numberPart('Requests', ({ count }) => numberCell(count)),
  numberPart('Dollars', ({ amount }) => amountCell('dollars', amount)),
  part('Oldest', ({ oldest }) => timeCell(oldest)),
  numberPart('Over a day', ({ overOneDay }) => numberCell(overOneDay)),
  numberPart('Over a week', ({ overOneWeek }) => numberCell(overOneWeek)),
]

const instanceColumns: readonly PartColumn<Instance>[] = [
  part('Instance', ({ host, pid }) => textCell(`${host}, process ${pid}`)),
  part('Role', ({ role }) =>
    statusCell(role === 'writer' ? 'writes' : 'forwards', role === 'writer' ? 'good' : 'neutral'),
  ),
  numberPart('Queue', ({ queue }) => numberCell(queue)),
  numberPart('Lag in events', ({ lag }) => numberCell(lag)),
  numberPart('Sockets', ({ sockets }) => numberCell(sockets)),
  part('Started', ({ started_at }) => timeCell(started_at)),
  part('Seen', ({ silent_seconds }) =>
    silent_seconds > SILENT_SECONDS
      ? statusCell(`silent for ${formatAge(silent_seconds * 1_000)}`, 'bad')
      : textCell(`${formatAge(silent_seconds * 1_000)} ago`),
  ),
]

const figure = (name: string, value: string, href: string, note: string): Figure => ({ name, value, href, note })

const monthsFigure = ({ count, next }: MonthsToClose): Figure =>
  count === 0 || next === null
    ? figure('Months to close', formatCount(count), '/console/reports', 'every month that is over is closed')
    : figure('Months to close', formatCount(count), monthPath(next), `${next} is next`)

/** Only what is approved was moved: the rest is still in wallets, and so in the balances of users. */
function whereWaiting(withdrawals: readonly WaitingWithdrawals[]): string {
  const sumOf = (status: WaitingWithdrawals['status']): string =>
    formatUnits(
      'dollars',
      withdrawals.filter((row) => row.status === status).reduce((sum, { amount }) => sum + amount, 0n),
    )
  return `${sumOf('approved')} dollars are approved and stand under “In withdrawals” above, plus ${sumOf('pending')} on hold in the wallets of users, which stand under “Users” until they are approved.`
}

function show(found: HomeFigures, now: number): HomeData {
  const { currencies, secondsAhead, withdrawals, instances, maintenance } = found
  const waiting = withdrawals.reduce((sum, { count }) => sum + count, 0)
  return {
    unbalanced: currencies.filter(({ total }) => total !== 0n).map(({ currency }) => formatWord(currency)),
    maintenance,
    ahead: secondsAhead < MIN_AHEAD_SECONDS ? null : formatAge(secondsAhead * 1_000),
    figures: figuresOf(found, waiting, now),
    currencies: partTable({
      label: 'What each currency comes to',
      empty: 'No value was issued yet. Operators credit users on the users’ pages.',
      columns: currencyColumns,
      rows: currencies,
    }),
    withdrawals: partTable({
      label: 'Withdrawals waiting',
      empty: 'No withdrawal waits. Requests appear here as soon as users make them.',
      columns: withdrawalColumns,
      rows: withdrawals,
    }),
    withdrawalsNote: waiting === 0 ? null : whereWaiting(withdrawals),
    instances: partTable({
      label: 'Instances',
      empty: 'No instance has said that it runs.',
      columns: instanceColumns,
      rows: instances,
    }),
  }
}

function figuresOf(found: HomeFigures, waiting: number, now: number): readonly Figure[] {
  const { position, lastEventAt, withdrawals, verification, checkpoint, maintenance } = found
  const ageOf = (at: number): string => formatAge(now - at)
  const end = position === 0 ? '/console/events' : eventPath(position)
  const last = lastEventAt === null ? 'no event yet' : `last event ${ageOf(lastEventAt / 1_000)} ago`
  const oldest = Math.min(...withdrawals.map((row) => row.oldest)) / 1_000
  return [
    figure('End of the ledger', formatCount(position), end, last),
    figure('Events in the last minute', formatCount(found.eventsPerMinute), '/console/live', 'as committed'),
    figure(
      'Withdrawals waiting',
      formatCount(waiting),
      '/console/withdrawals',
      waiting === 0 ? 'nothing to do' : `oldest ${ageOf(oldest)}`,
    ),
    figure(
      'Proposals waiting',
      formatCount(found.openProposals),
      '/console/proposals?status=open',
      'for a second pair of eyes',
    ),
    monthsFigure(found.monthsToClose),
    figure('Open games', formatCount(found.openGames), '/console/games?status=open', 'roulettes in rooms'),
    verification === null
      ? figure('Last verification', 'None', '/console/verify', 'start one')
      : figure(
          'Last verification',
          sentenceCase(formatWord(verification.outcome)),
          pagePath('verification', verification.id),
          `${ageOf(Date.parse(verification.started_at))} ago`,
        ),
    checkpoint === null
      ? figure('Last checkpoint', 'None', '/console/verify', 'make one')
      : figure(
          'Last checkpoint',
          formatCount(checkpoint.checkpoint.position),
          '/console/verify',
          `${ageOf(Date.parse(checkpoint.checkpoint.at))} ago`,
        ),
    figure(
      'App',
      maintenance ? 'Maintenance' : 'Open',
      '/console/catalogue/app-mode',
      maintenance ? 'clients are turned away' : 'clients may run',
    ),
  ]
}
