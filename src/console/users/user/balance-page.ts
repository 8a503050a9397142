import { Type } from '@sinclair/typebox'
import { CurrencyName } from '../../../../schema/operator.ts'
import { type Explanation, explainBalance, type Source } from '../../../audit/reports/explain.ts'
import type { QueryContext } from '../../../audit/reports/query-context.ts'
import type { StatementLine } from '../../../audit/reports/statement.ts'
import type { App } from '../../../features/services.ts'
import type { ConsoleServices } from '../../console-services.ts'
import { addressWith } from '../../frame/address.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  formatUnits,
  formatWord,
  numberCell,
  timeCell,
  wordCell,
} from '../../frame/cells/cells.ts'
import { accountCell, accountPath, eventCell, userPath } from '../../frame/cells/links.ts'
import { sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import { partTable, type Table } from '../../lists/list.ts'
import { pageEnd, readLedgerEnds } from '../../lists/page-end.ts'
import { personName } from '../person.ts'
import { explainHolds, type HoldsExplained } from './balance-tables.ts'
import { readBalances } from './balances.ts'
import { findUser } from './find-user.ts'

/** Movements that are summed while somebody waits for the page. */
const MAX_SUMMED_MOVEMENTS = 10_000

/** There are too many movements to sum them for a page. */
class TooManyMovements extends Error {
  override readonly name = 'TooManyMovements'
}

interface BalanceData {
  readonly question: string
  readonly name: string
  readonly path: string
  readonly account: string
  readonly holds: readonly HoldsExplained[]
  readonly facts: readonly (readonly [string, Cell])[]
  /** Null for an account with too many movements, and while they are being indexed. */
  readonly sums: { readonly sources: Table; readonly latest: Table; readonly isExplained: boolean } | null
  readonly isBeingIndexed: boolean
}

const template = defineTemplate<BalanceData>('/users/user/balance-page.eta')

/** /console/users/{id}/balances/{currency}: why a user can spend so much, by what it came from and what is on hold. */
export function addBalancePage(scope: App, services: ConsoleServices): void {
  const params = Type.Object({ id: Type.String(), currency: CurrencyName })
  scope.get('/users/:id/balances/:currency', { schema: { params } }, async (request, reply) => {
    const { currency } = request.params
    const { db } = await services.chooseReportDatabase()
    const user = await findUser(db, request.params)
    const id = user.user_id
    const [balances, ends] = await Promise.all([readBalances(db, id), readLedgerEnds(db)])
    // Sums that end before the balance would not explain it.
    const isBeingIndexed = pageEnd(ends, undefined, true).at < ends.head
    const wallet = balances.wallets.find((one) => one.currency === currency)
    if (wallet === undefined) throw new Error(`there is no wallet of ${currency}`)
    const explanation = isBeingIndexed ? null : await orTooMany((context) => explainBalance(db, id, currency, context))
    const name = personName(user)
    const { available, account } = wallet
    const question = `Why can ${name} spend ${formatUnits(currency, available)} ${formatWord(currency)}?`
    return sendPage(request, reply, template, {
      title: question,
      data: {
        question,
        name,
        path: userPath(id),
        account,
        holds: explainHolds(id, name, { ...balances, wallets: [wallet] }),
        facts: [
          ['Balance', amountCell(currency, wallet.balance, accountPath(account))],
          ['On hold', amountCell(currency, wallet.held)],
          ['Can be spent', amountCell(currency, available)],
          ['As of event', eventCell(balances.position)],
        ],
        sums: explanation === null ? null : sumsOf(explanation),
        isBeingIndexed,
      },
    })
  })
}

/** Null when the report plans to read more than a page can wait for. */
async function orTooMany(explain: (context: QueryContext) => Promise<Explanation>): Promise<Explanation | null> {
  const stop = new AbortController()
  let planned = 0
  const onPlanned = (events: number): void => {
    planned += events
    if (planned > MAX_SUMMED_MOVEMENTS) stop.abort(new TooManyMovements())
  }
  try {
    return await explain({ signal: stop.signal, onPlanned, onScanned: () => {} })
  } catch (error) {
    if (error instanceof TooManyMovements) return null
    throw error
  }
}

function sumsOf({ account, currency, sources, latest, sum, balance, position }: Explanation) {
  return {
    isExplained: sum === balance,
    sources: partTable({
      label: 'Where it came from, and where it went',
      columns: [
        {
          title: 'What',
          cell: ({ type }: Source) => wordCell(type, addressWith('/console/events', { account, type, at: position })),
        },
        { title: 'From or to', cell: ({ counter }) => codeCell(counter) },
        { title: 'Movements', isNumber: true, cell: ({ count }) => numberCell(count) },
        { title: 'Amount', isNumber: true, cell: ({ amount }) => amountCell(currency, amount) },
        { title: 'First', cell: ({ first }) => eventCell(first) },
        { title: 'Last', cell: ({ last }) => eventCell(last) },
      ],
      rows: sources,
      empty: 'Nothing has moved here yet.',
    }),
    latest: partTable({
      label: 'Newest movements',
      columns: [
        { title: 'Event', cell: ({ position: at }: StatementLine) => eventCell(at) },
        { title: 'Time', cell: ({ at }) => timeCell(at) },
        { title: 'What', cell: ({ type }) => wordCell(type) },
        { title: 'Amount', isNumber: true, cell: ({ amount }) => amountCell(currency, amount) },
        { title: 'Balance after', isNumber: true, cell: (line) => amountCell(currency, line.balance) },
        { title: 'From or to', cell: ({ counter_account: counter }) => accountCell(counter) },
      ],
      rows: latest.toReversed(),
      empty: 'Nothing has moved here yet.',
    }),
  }
}
