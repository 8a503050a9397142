import { Type } from '@sinclair/typebox'
import { CurrencyName } from '../../../schema/common.ts'
import { type Explanation, explainBalance, type Source } from '../../audit/reports/explain.ts'
import type { QueryContext } from '../../audit/reports/query-context.ts'
import type { StatementLine } from '../../audit/reports/statement.ts'
import type { App } from '../../features/services.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import {
  amountCell,
  codeCell,
  formatUnits,
  formatWord,
  numberCell,
  textCell,
  timeCell,
  wordCell,
} from '../frame/cells.ts'
import { accountCell, accountPath, eventCell, userPath } from '../frame/links.ts'
import { type Section, sendSections } from '../frame/page.ts'
import { numberPart, part, partTable } from '../lists/list.ts'
import { pageEnd, readLedgerEnds } from '../lists/page-end.ts'
import { explainHolds, readBalances } from './balances.ts'
import { findUser, personName } from './find-user.ts'

/** Movements that are summed while somebody waits for the page. */
const MAX_SUMMED_MOVEMENTS = 10_000

/** There are too many movements to sum them for a page. */
class TooManyMovements extends Error {
  override readonly name = 'TooManyMovements'
}

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
    const [held] = explainHolds(id, name, { ...balances, wallets: [wallet] })
    return sendSections(request, reply, {
      title: question,
      heading: [textCell(question)],
      up: textCell(name, userPath(id)),
      sections: [
        {
          facts: [
            ['Balance', amountCell(currency, wallet.balance, accountPath(account))],
            ['On hold', amountCell(currency, wallet.held)],
            ['Can be spent', amountCell(currency, available)],
            ['As of event', eventCell(balances.position)],
          ],
        },
        held === undefined ? null : { title: 'What is on hold', table: held.table },
        ...(isBeingIndexed ? [BEING_INDEXED] : explanation === null ? [tooMany(account)] : explain(explanation)),
      ],
    })
  })
}

const BEING_INDEXED: Section = {
  note: 'The newest movements are being indexed. Load this page again in a moment for where the balance came from.',
}

const tooMany = (account: string): Section => ({
  note: [
    'This account has too many movements to sum them while you wait. ',
    { href: accountPath(account), text: 'Its own page' },
    ' lists them, charts the balance and exports its statement.',
  ],
})

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

function explain({ account, currency, sources, latest, sum, balance, position }: Explanation): readonly Section[] {
  return [
    { alert: sum === balance ? null : 'The movements do not sum up to the balance: verify the ledger.' },
    {
      title: 'Where it came from, and where it went',
      table: partTable<Source>({
        label: 'Where it came from, and where it went',
        columns: [
          part('What', ({ type }) => wordCell(type, addressWith('/console/events', { account, type, at: position }))),
          part('From or to', ({ counter }) => codeCell(counter)),
          numberPart('Movements', ({ count }) => numberCell(count)),
          numberPart('Amount', ({ amount }) => amountCell(currency, amount)),
          part('First', ({ first }) => eventCell(first)),
          part('Last', ({ last }) => eventCell(last)),
        ],
        rows: sources,
        empty: 'Nothing has moved here yet.',
      }),
    },
    {
      title: 'Newest movements',
      table: partTable<StatementLine>({
        label: 'Newest movements',
        columns: [
          part('Event', ({ position: at }) => eventCell(at)),
          part('Time', ({ at }) => timeCell(at)),
          part('What', ({ type }) => wordCell(type)),
          numberPart('Amount', ({ amount }) => amountCell(currency, amount)),
          numberPart('Balance after', (line) => amountCell(currency, line.balance)),
          part('From or to', ({ counter_account: counter }) => accountCell(counter)),
        ],
        rows: latest.toReversed(),
        empty: 'Nothing has moved here yet.',
      }),
    },
    { text: [{ href: accountPath(account), text: `All movements of ${account}` }] },
  ]
}
