import { readEventTime } from '../../audit/reports/period.ts'
import type { TrialBalance } from '../../audit/reports/trial-balance.ts'
import type { App } from '../../features/services.ts'
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
} from '../frame/cells.ts'
import { eventCell } from '../frame/links.ts'
import { sendPage, sendPart } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
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
import { actorIn, isForPart } from '../session/session-check.ts'
import { pastBalances } from './past-balances.ts'

const PATH = '/console/reports/trial-balance'
/** A page that cannot be read at once is shown at once, with how far it is. */
const FIRST_WAIT_MS = 50

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
export function showBalance(balance: TrialBalance, at: number | null): BalanceData {
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
export function trialBalancePages(scope: App, services: ConsoleServices): void {
  const { chooseReportDatabase, audit } = services
  const balances = pastBalances(audit.jobs)
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
