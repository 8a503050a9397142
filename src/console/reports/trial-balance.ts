import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyRequest } from 'fastify'
import { TrialBalanceReply } from '../../../schema/finance.ts'
import { readEventTime } from '../../audit/reports/period.ts'
import type { TrialBalance } from '../../audit/reports/trial-balance.ts'
import type { App } from '../../features/services.ts'
import { bodyOf } from '../admin-request.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import {
  amountCell,
  type Cell,
  formatUnits,
  formatWord,
  numberCell,
  statusCell,
  timeCell,
  wordCell,
} from '../frame/cells/cells.ts'
import { eventCell } from '../frame/cells/links.ts'
import { sendPage, sendPart } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { type List, listEnd, querySchemaOf, showTable, type Table } from '../lists/list.ts'
import { isForPart } from '../session/session-check.ts'

const PATH = '/console/reports/trial-balance'

/** A trial balance as its template shows it. */
export interface BalanceData {
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

const pageTemplate = defineTemplate<BalanceData>('/reports/trial-balance.eta')
const partTemplate = defineTemplate<BalanceData>('/reports/balance.eta')

const noFilters = Type.Object({})
const replyOf = TypeCompiler.Compile(TrialBalanceReply)

/**
 * The trial balance as of a position, by the route: it folds long ledgers beside the requests, some at a time, and keeps
 * what it folded.
 */
async function balanceAt(
  { adminRequest }: Pick<ConsoleServices, 'adminRequest'>,
  request: FastifyRequest,
  position: number,
): Promise<TrialBalance> {
  if (position === 0) return { position, currencies: [] }
  const path = addressWith('/ledger/trial-balance', { as_of: position })
  const body = bodyOf(await adminRequest(request, { path }))
  if (!replyOf.Check(body)) throw new Error('the trial balance is not as the document says')
  return {
    position: body.data.position,
    currencies: body.data.currencies.map(({ currency, accounts, total }) => ({
      currency,
      accounts: accounts.map((one) => ({ ...one, balance: BigInt(one.balance) })),
      total: BigInt(total),
    })),
  }
}

const rowsOf = ({ currencies, position }: TrialBalance): KindRow[] =>
  currencies.flatMap(({ currency, accounts }) => accounts.map((account) => ({ currency, position, ...account })))

const kindList = (services: Pick<ConsoleServices, 'adminRequest'>): List<typeof noFilters, KindRow> => ({
  label: 'Trial balance',
  filters: noFilters,
  empty: 'Nothing has moved yet. Balances stand here once something was credited.',
  columns: [
    { name: 'currency', title: 'Currency', cell: ({ currency }) => wordCell(currency) },
    {
      name: 'kind',
      title: 'Kind of account',
      cell: ({ kind, currency, position }) => ({
        kind: 'text',
        text: kind,
        value: kind,
        href: addressWith('/console/accounts', { kind, currency, at: position }),
      }),
    },
    {
      name: 'balance',
      title: 'Balance',
      isNumber: true,
      cell: ({ currency, balance }) => amountCell(currency, balance),
    },
    { name: 'accounts', title: 'Accounts', isNumber: true, cell: ({ count }) => numberCell(count) },
  ],
  read: async ({ at }, request) => ({ rows: rowsOf(await balanceAt(services, request, at)), next: null }),
})

/** `at` is when the last event was that it includes, in microseconds; null for an empty ledger. */
export function showBalance(
  services: Pick<ConsoleServices, 'adminRequest'>,
  balance: TrialBalance,
  at: number | null,
): BalanceData {
  const { currencies, position } = balance
  const sums = currencies.map(({ currency, total }): readonly [string, Cell] => [
    `Sum of ${formatWord(currency)}`,
    total === 0n ? statusCell('zero', 'good') : statusCell(`${formatUnits(currency, total)}, which is not zero`, 'bad'),
  ])
  const rows = rowsOf(balance)
  return {
    facts: position === 0 ? [] : [['As of event', eventCell(position)], ['Its time', timeCell(at)], ...sums],
    wrong: currencies.filter(({ total }) => total !== 0n).map(({ currency }) => formatWord(currency)),
    table: showTable(kindList(services), { path: PATH, query: {}, at: position, rows, next: null }),
  }
}

/** /console/reports/trial-balance: the balance as of a position, as a part of the page of reports or on a page of its own. */
export function trialBalancePages(scope: App, services: ConsoleServices): void {
  const list = kindList(services)
  scope.get('/reports/trial-balance', { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const { reports: db } = await services.reads.reportsFor(request)
    const { at: position } = await listEnd(db, list, request.query)
    const [balance, at] = await Promise.all([balanceAt(services, request, position), readEventTime(db, position)])
    const data = showBalance(services, balance, at)
    if (isForPart(request)) return sendPart(request, reply, partTemplate, { page: request.url, read: () => data })
    return sendPage(request, reply, pageTemplate, { title: 'Trial balance', data })
  })
  addExports(scope, '/reports/trial-balance', list, services)
}
