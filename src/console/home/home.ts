import { MIN_AHEAD_SECONDS } from '../../db/head.ts'
import type { Instance } from '../../db/queries/instances.ts'
import { RecentRead } from '../../db/queries/recent-read.ts'
import type { ConsolePages } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
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
} from '../frame/cells/cells.ts'
import { sendPage, sendPart } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { type PartColumn, partTable, type Table } from '../lists/list.ts'
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

const template = defineTemplate<HomeData>('/home/home.eta')
const figuresTemplate = defineTemplate<HomeData>('/home/figures.eta')

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
  user: 'Users',
  room: 'Rooms',
  house: 'House',
  game: 'In games',
  withdrawal: 'In withdrawals',
  settled: 'Settled',
}

const currencyColumns: readonly PartColumn<CurrencyFigures>[] = [
  {
    title: 'Currency',
    cell: ({ currency }) => wordCell(currency, addressWith('/console/accounts', { currency })),
  },
  ...shownKinds.map((kind) => ({
    title: kindTitles[kind],
    isNumber: true,
    cell: ({ currency, byKind }: CurrencyFigures) =>
      amountCell(currency, byKind[kind], addressWith('/console/accounts', { kind, currency })),
  })),
  {
    title: 'Sum',
    cell: ({ currency, total }) =>
      total === 0n ? statusCell('0 balanced', 'good') : { ...amountCell(currency, total), kind: 'status', tone: 'bad' },
  },
]

const withdrawalColumns: readonly PartColumn<WaitingWithdrawals>[] = [
  {
    title: 'Status',
    cell: ({ status }) => statusCell(status, 'waiting', addressWith('/console/withdrawals', { status })),
  },
  { title: 'Wallet', cell: ({ wallet }) => wordCell(wallet) },
  { title: 'Requests', isNumber: true, cell: ({ count }) => numberCell(count) },
  { title: 'Dollars', isNumber: true, cell: ({ amount }) => amountCell('dollars', amount) },
  { title: 'Oldest', cell: ({ oldest }) => timeCell(oldest) },
  { title: 'Over a day', isNumber: true, cell: ({ overOneDay }) => numberCell(overOneDay) },
  { title: 'Over a week', isNumber: true, cell: ({ overOneWeek }) => numberCell(overOneWeek) },
]

const instanceColumns: readonly PartColumn<Instance>[] = [
  { title: 'Instance', cell: ({ host, pid }) => textCell(`${host}, process ${pid}`) },
  {
    title: 'Role',
    cell: ({ role }) => statusCell(role === 'writer' ? 'writes' : 'forwards', role === 'writer' ? 'good' : 'neutral'),
  },
  { title: 'Queue', isNumber: true, cell: ({ queue }) => numberCell(queue) },
  { title: 'Lag in events', isNumber: true, cell: ({ lag }) => numberCell(lag) },
  { title: 'Sockets', isNumber: true, cell: ({ sockets }) => numberCell(sockets) },
  { title: 'Started', cell: ({ started_at }) => timeCell(started_at) },
  {
    title: 'Seen',
    cell: ({ silent_seconds }) =>
      silent_seconds > SILENT_SECONDS
        ? statusCell(`silent for ${formatAge(silent_seconds * 1_000)}`, 'bad')
        : textCell(`${formatAge(silent_seconds * 1_000)} ago`),
  },
]

const monthsFigure = ({ count, next }: MonthsToClose): Figure => ({
  name: 'Months to close',
  value: formatCount(count),
  ...(count === 0 || next === null
    ? { href: '/console/reports', note: 'every month that is over is closed' }
    : { href: monthPath(next), note: `${next} is next` }),
})

/** Only what is approved was moved: the rest is still in wallets, and so in the balances of users. */
function whereWaiting(withdrawals: readonly WaitingWithdrawals[]): string {
  const sumOf = (status: WaitingWithdrawals['status']): string =>
    formatUnits(
      'dollars',
      withdrawals.filter((row) => row.status === status).reduce((sum, { amount }) => sum + amount, 0n),
    )
  return `${sumOf('approved')} dollars are approved and stand under “In withdrawals” above, plus ${sumOf('pending')} on hold in the wallets of users, which stand under “Users” until they are approved.`
}

function show(figures: HomeFigures, now: number): HomeData {
  const {
    currencies,
    position,
    lastEventAt,
    eventsPerMinute,
    secondsAhead,
    withdrawals,
    openGames,
    openProposals,
    monthsToClose,
    maintenance,
    instances,
    verification,
    checkpoint,
  } = figures
  const waiting = withdrawals.reduce((sum, { count }) => sum + count, 0)
  const oldest = Math.min(...withdrawals.map((row) => row.oldest))
  return {
    unbalanced: currencies.filter(({ total }) => total !== 0n).map(({ currency }) => formatWord(currency)),
    maintenance,
    ahead: secondsAhead < MIN_AHEAD_SECONDS ? null : formatAge(secondsAhead * 1_000),
    figures: [
      {
        name: 'End of the ledger',
        value: formatCount(position),
        href: position === 0 ? '/console/events' : `/console/events/${position}`,
        note: lastEventAt === null ? 'no event yet' : `last event ${formatAge(now - lastEventAt / 1_000)} ago`,
      },
      {
        name: 'Events in the last minute',
        value: formatCount(eventsPerMinute),
        href: '/console/live',
        note: 'as committed',
      },
      {
        name: 'Withdrawals waiting',
        value: formatCount(waiting),
        href: '/console/withdrawals',
        note: waiting === 0 ? 'nothing to do' : `oldest ${formatAge(now - oldest / 1_000)}`,
      },
      {
        name: 'Proposals waiting',
        value: formatCount(openProposals),
        href: '/console/proposals?status=open',
        note: 'for a second pair of eyes',
      },
      monthsFigure(monthsToClose),
      {
        name: 'Open games',
        value: formatCount(openGames),
        href: '/console/games?status=open',
        note: 'roulettes in rooms',
      },
      {
        name: 'Last verification',
        value: verification === null ? 'None' : sentenceCase(formatWord(verification.outcome)),
        href: verification === null ? '/console/verify' : `/console/verify/${verification.id}`,
        note: verification === null ? 'start one' : `${formatAge(now - Date.parse(verification.started_at))} ago`,
      },
      {
        name: 'Last checkpoint',
        value: checkpoint === null ? 'None' : formatCount(checkpoint.checkpoint.position),
        href: '/console/verify',
        note: checkpoint === null ? 'make one' : `${formatAge(now - Date.parse(checkpoint.checkpoint.at))} ago`,
      },
      {
        name: 'App',
        value: maintenance ? 'Maintenance' : 'Open',
        href: '/console/catalogue/app-mode',
        note: maintenance ? 'clients are turned away' : 'clients may run',
      },
    ],
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
