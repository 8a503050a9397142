import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { ACCOUNT_PATTERN } from '../../../schema/common.ts'
import { type AccountPage, readAccountPage } from '../../audit/reports/accounts/account-page.ts'
import {
  type BalancePoint,
  type BalanceSeries,
  MAX_POINTS,
  readBalanceSeries,
  seriesOf,
} from '../../audit/reports/accounts/balance-series.ts'
import type { NamedHold } from '../../audit/reports/accounts/balances-at.ts'
import { chartOfAccounts } from '../../audit/reports/chart-of-accounts.ts'
import { readEventTimes } from '../../audit/reports/period.ts'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { InvalidPathParam } from '../../http/errors/http-error.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { NumberedEntry } from '../../ledger/indexes/latest-entries.ts'
import { currencyOf, isAccount } from '../../ledger/rules/account.ts'
import { isDollars } from '../../ledger/rules/money.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { ConsoleServices } from '../console-services.ts'
import { amountCell, type Cell, codeCell, formatWord, textCell, timeCell, wordCell } from '../layout/cells.ts'
import { accountCell, accountPath, addressWith, eventCell, eventPath, holderPath, idCell } from '../layout/links.ts'
import { sendSections } from '../layout/page.ts'
import {
  column,
  type List,
  numberColumn,
  numberPart,
  PAGE_ROWS,
  part,
  partTable,
  querySchemaOf,
  showTable,
  type Table,
} from '../lists/list.ts'
import { addExports } from '../lists/list-page.ts'
import { pageEnd, readLedgerEnds } from '../lists/period.ts'
import {
  type AccountPeriod,
  accountFilters,
  readHolderNames,
  requireAccount,
  resolveAccountPeriod,
} from './account-request.ts'

export const accountParams = Type.Object({ account: Type.String({ pattern: ACCOUNT_PATTERN }) })

/** What `assets/chart.js` draws. */
interface Chart {
  readonly label: string
  readonly decimals: number
  /** Seconds since 1970, in order. */
  readonly times: readonly number[]
  /** As shown: dollars, not cents. */
  readonly values: readonly number[]
}

/** Exports share the list of the page, and not its schema. */
function accountOf(request: FastifyRequest): string {
  const { account } = request.params as Static<typeof accountParams>
  if (!isAccount(account)) throw new InvalidPathParam()
  return account
}

const movementList: List<typeof accountFilters, NumberedEntry> = {
  label: 'Movements',
  filters: accountFilters,
  needsIndex: () => true,
  empty: 'No movements here. Choose another period, or go back to all accounts.',
  columns: [
    column('position', 'Event', ({ position }) => eventCell(position)),
    column('at', 'Time', ({ at }) => timeCell(at)),
    column('type', 'Type', ({ type }) => wordCell(type)),
    column('counter_account', 'Counter-account', ({ counter }) => accountCell(counter)),
    numberColumn('amount', 'Amount', ({ account, amount }) => amountCell(currencyOf(account), amount)),
    numberColumn('balance', 'Balance', ({ account, balance }) => amountCell(currencyOf(account), balance)),
  ],
  read: async ({ query, db, at, cursor, limit }, request) => {
    const account = accountOf(request)
    // An unknown account is none without movements.
    if (cursor === null) await requireAccount(db, account)
    const period = await resolveAccountPeriod(db, query, at)
    const page = await readPage(db, account, period, cursor, limit)
    return { rows: page.movements, next: nextCursor(page) }
  },
}

const holdsTable = (rows: readonly NamedHold[]): Table =>
  partTable<NamedHold>({
    label: 'Holds',
    empty: 'Nothing is on hold.',
    columns: [
      part('Withdrawal', ({ position }) => idCell('withdrawal', position)),
      part('For', ({ reason }) => wordCell(reason)),
      part('Event', ({ position }) => eventCell(position)),
      numberPart('Amount', ({ account, amount }) => amountCell(currencyOf(account), amount)),
    ],
    rows,
  })

const pointsTable = (currency: string, rows: readonly BalancePoint[]): Table =>
  partTable<BalancePoint>({
    label: 'Balance over time',
    empty: 'No movements in this period.',
    columns: [
      part('Time', ({ at }) => timeCell(at)),
      part('Event', ({ position }) => eventCell(position)),
      numberPart('Balance', ({ balance }) => amountCell(currency, balance)),
    ],
    rows,
  })

/** /console/accounts/{account}: why it holds what it holds. */
export function accountPage(scope: App, services: ConsoleServices): void {
  const schema = { params: accountParams, querystring: querySchemaOf({ filters: accountFilters }) }
  scope.get('/accounts/:account', { schema }, async (request, reply) => {
    const { account } = request.params
    const { query } = request
    const { db } = await services.chooseReportDatabase()
    const [ends, names] = await Promise.all([
      readLedgerEnds(db),
      readHolderNames(db, [account]),
      requireAccount(db, account),
    ])
    const { at, note } = pageEnd(ends, query.at, !query.as_of && !query.to)
    const period = await resolveAccountPeriod(db, query, at)
    const [{ page, series }, times] = await Promise.all([
      readPageAndSeries(db, account, period, query.cursor ?? null),
      readTimes(db, period),
    ])
    const path = accountPath(account)
    const currency = currencyOf(account)
    const { from, to, as_of } = query
    const statement = (format: string, text: string) => ({
      href: addressWith(`${path}/statement.${format}`, { from, to, as_of, at }),
      text,
      isFile: true as const,
    })
    const { balance, available } = page
    const figures = { balance, held: balance - available, available }
    const holder = holderCell(account, names.get(account))
    const chart = chartOf(currency, series, times)
    const movements = showTable(movementList, { path, query, at, rows: page.movements, next: nextCursor(page) })
    return sendSections(request, reply, {
      title: `Account ${account}`,
      heading: ['Account ', codeCell(account)],
      scripts: series.points.length === 0 ? [] : ['chart'],
      sections: [
        { lead: [...(holder === null ? [] : ['Of ', holder, '. ']), meaningOf(account)] },
        { part: { template: '/accounts/figures.eta', data: { currency, ...figures } } },
        {
          hint: [
            `In ${formatWord(currency)}, as of `,
            { href: eventPath(period.asOf), text: `position ${period.asOf}` },
            ...(times.asOf === null ? [] : [', ', timeCell(times.asOf)]),
          ],
        },
        { note },
        { part: { template: '/accounts/period.eta', data: { path, query } } },
        page.holds.length === 0 ? null : { title: 'Holds', table: holdsTable(page.holds) },
        chart === null
          ? null
          : {
              title: 'Balance over time',
              part: {
                template: '/accounts/chart.eta',
                data: { chart, points: pointsTable(currency, series.points), isComplete: series.isComplete },
              },
            },
        {
          title: 'Movements',
          hint: [
            'Newest first. Statement of this period, oldest first, with opening and closing balance: ',
            statement('csv', 'CSV'),
            ' · ',
            statement('jsonl', 'JSONL'),
            ' · ',
            statement('journal', 'hledger'),
            ' · ',
            statement('json', 'About this export'),
          ],
          table: movements,
        },
      ],
    })
  })
  addExports(scope, '/accounts/:account', movementList, services)
}

function readPage(
  db: Kysely<Tables>,
  account: string,
  { first, last, asOf }: AccountPeriod,
  cursor: string | null,
  limit: number,
): Promise<AccountPage> {
  const [position = last + 1, number = 0] = cursor === null ? [] : decodeCursor(cursor, 2)
  return readAccountPage(db, account, { first, last: asOf, before: { position, number }, limit })
}

/**
 * A page of movements, and the balance over the period. Most accounts have so few movements that those of a chart are read
 * with the first page, which takes a third less time for such an account (`npm run bench:console`).
 */
async function readPageAndSeries(
  db: Kysely<Tables>,
  account: string,
  period: AccountPeriod,
  cursor: string | null,
): Promise<{ readonly page: AccountPage; readonly series: BalanceSeries }> {
  if (cursor !== null) {
    const [page, series] = await Promise.all([
      readPage(db, account, period, cursor, PAGE_ROWS),
      readBalanceSeries(db, account, period),
    ])
    return { page, series }
  }
  const newest = await readPage(db, account, period, null, MAX_POINTS)
  const movements = newest.movements.slice(0, PAGE_ROWS)
  const last = movements.at(-1)
  const isWhole = newest.movements.length === movements.length || last === undefined
  const page = isWhole ? newest : { ...newest, movements, next: { position: last.position, number: last.number } }
  const oldest = newest.movements.at(-1)
  const series =
    newest.next === null && oldest !== undefined
      ? seriesOf(oldest.balance - BigInt(oldest.amount), newest.movements.toReversed())
      : await readBalanceSeries(db, account, period)
  return { page, series }
}

const nextCursor = ({ next }: AccountPage): string | null =>
  next === null ? null : encodeCursor([next.position, next.number])

async function readTimes(db: Kysely<Tables>, { first, last, asOf }: AccountPeriod) {
  const times = await readEventTimes(db, [first, last, asOf])
  const timeOf = (position: number): Micros | null => times.get(position) ?? null
  return { begins: timeOf(first), ends: timeOf(last), asOf: timeOf(asOf) }
}

/** The line begins and ends with the period, so that it also shows when nothing moved. */
function chartOf(
  currency: string,
  { opening, points }: { readonly opening: bigint; readonly points: readonly BalancePoint[] },
  { begins, ends }: { readonly begins: Micros | null; readonly ends: Micros | null },
): Chart | null {
  const last = points.at(-1)
  if (last === undefined) return null
  const decimals = isDollars(currency) ? 2 : 0
  const drawn = [
    ...(begins === null ? [] : [{ at: begins, balance: opening }]),
    ...points,
    ...(ends === null ? [] : [{ at: ends, balance: last.balance }]),
  ]
  return {
    label: `Balance in ${formatWord(currency)}`,
    decimals,
    times: drawn.map(({ at }) => at / 1_000_000),
    values: drawn.map(({ balance }) => Number(balance) / 10 ** decimals),
  }
}

function meaningOf(account: string): string {
  const [kind = '', id = ''] = account.split(':')
  const entry =
    chartOfAccounts.find((one) => one.account === `${kind}:${id}`) ??
    chartOfAccounts.find((one) => one.account === `${kind}:<id>`)
  return entry?.meaning ?? ''
}

function holderCell(account: string, name: string | undefined): Cell | null {
  const [kind = '', id = ''] = account.split(':')
  const path = holderPath(account)
  if (name !== undefined) return textCell(name, path)
  return path === undefined ? null : textCell(`${kind === 'debt' || kind === 'settled' ? 'user' : kind} ${id}`, path)
}
