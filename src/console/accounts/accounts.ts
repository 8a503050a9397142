import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { Text } from '../../../schema/common.ts'
import { type AccountCursor, type ListedAccount, listAccounts } from '../../audit/reports/accounts/list-accounts.ts'
import { chartOfAccounts } from '../../audit/reports/chart-of-accounts.ts'
import { BatchedLookup } from '../../db/queries/batched-lookup.ts'
import { httpMessages } from '../../http/messages.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { currencies, currencyOf, holders, isAccount } from '../../ledger/rules/account.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import { amountCell, codeCell, formatWord, textCell, wordCell } from '../layout/cells.ts'
import { accountCell, holderPath } from '../layout/links.ts'
import { choiceFilter, column, type List, numberColumn, readTable, type Table, textFilter } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { accountPage } from './account-page.ts'
import { readHolderNames } from './account-request.ts'
import { accountStatements } from './account-statements.ts'

const MAX_SHARED = 100
/** One sorting at a time, for all who ask for it meanwhile. */
const SORTING_LIMITS = { maxQueries: 1, slots: null, maxWaiting: 1_000, maxWaitMs: 3_000 }

/** /console/accounts: all accounts, and each with its balance, holds and movements. */
export const accountPages: ConsolePages = (scope, services) => {
  const readSorted = sharedTables(services)
  addListPage(scope, services, {
    path: '/accounts',
    lead: 'Every account that ever moved. Its balance is the sum of its movements, each of which leads to the event that made it.',
    list: accountList,
    filters: [
      choiceFilter('kind', 'Kind', [['', 'All'], ...holders.map((kind) => [kind, kind] as const)]),
      choiceFilter('currency', 'Currency', [['', 'All'], ...currencies.map((one) => [one, formatWord(one)] as const)]),
      textFilter('q', 'Number or name of an account', 100, '7, gifts, user:7:coins'),
      choiceFilter('sort', 'Order', [
        ['', 'By account'],
        ['-balance', 'Largest balance first'],
        ['balance', 'Smallest balance first'],
      ]),
    ],
    read: (request) => {
      const { sort } = Object(request.query)
      return sort === 'balance' || sort === '-balance' ? readSorted(request) : readAccounts(request, services)
    },
    extras: ({ query }) => {
      const { kind } = Object(query)
      const meaning = chartOfAccounts.find(({ account }) => account === `${kind}:<id>`)?.meaning
      return {
        before: [
          { hint: meaning === undefined ? null : [codeCell(kind), ` ${meaning}`] },
          { part: { template: '/accounts/meanings.eta', data: { chart: chartOfAccounts } } },
        ],
      }
    },
  })
  accountPage(scope, services)
  accountStatements(scope, services)
}

async function readAccounts(request: FastifyRequest, services: ConsoleServices): Promise<Table> {
  const { table } = await readTable(accountList, request, services, '/console/accounts')
  return table
}

/**
 * Tables that are read once for all who ask for the same at the same moment: all balances are read to sort them. Nobody
 * gets what was read before they asked.
 */
function sharedTables(services: ConsoleServices): (request: FastifyRequest) => Promise<Table> {
  const lookup = new BatchedLookup(
    MAX_SHARED,
    (requests: readonly FastifyRequest[]) => {
      const tables = new Map<string, Promise<Table>>()
      return Promise.all(
        requests.map((request) => {
          const key = JSON.stringify(request.query)
          const table = tables.get(key) ?? readAccounts(request, services)
          tables.set(key, table)
          return table
        }),
      )
    },
    SORTING_LIMITS,
  )
  return (request) => lookup.load(request)
}

const filters = Type.Object({
  kind: Type.Optional(Type.Union(holders.map((kind) => Type.Literal(kind)))),
  currency: Type.Optional(Type.Union(currencies.map((currency) => Type.Literal(currency)))),
  q: Type.Optional(Text(100)),
  sort: Type.Optional(Type.Union([Type.Literal('balance'), Type.Literal('-balance')])),
})

interface AccountRow extends ListedAccount {
  /** The name of the user or room whose account it is; null for others. */
  readonly name: string | null
}

const accountList: List<typeof filters, AccountRow> = {
  label: 'Accounts',
  filters,
  needsIndex: () => true,
  // Sorted by balance, each page reads and sorts all balances.
  exportPageRows: 5_000,
  empty: 'No account matches. Take away a filter, or search for a number of a user, room, game or withdrawal.',
  columns: [
    column('account', 'Account', ({ account }) => accountCell(account)),
    column('holder', 'Holder', ({ account, name }) => textCell(name, name === null ? undefined : holderPath(account))),
    column('currency', 'Currency', ({ account }) => wordCell(currencyOf(account))),
    numberColumn('balance', 'Balance', ({ account, balance }) => amountCell(currencyOf(account), balance), 'balance'),
    numberColumn('held', 'On hold', ({ account, held }) => amountCell(currencyOf(account), held)),
    numberColumn('available', 'Available', ({ account, balance, held }) =>
      amountCell(currencyOf(account), balance - held),
    ),
  ],
  read: async ({ query, db, at, cursor, limit }) => {
    const { kind, currency, q, sort } = query
    const { accounts, next } = await listAccounts(db, {
      kind,
      currency,
      q: q?.trim() || undefined,
      sort: sort === 'balance' ? 'smallest' : sort === '-balance' ? 'largest' : 'account',
      cursor: cursor === null ? undefined : decodeCursor(cursor),
      limit,
      upTo: at,
    })
    const names = await readHolderNames(
      db,
      accounts.map(({ account }) => account),
    )
    return {
      rows: accounts.map((account) => ({ ...account, name: names.get(account.account) ?? null })),
      next: next === null ? null : encodeCursor(next),
    }
  },
}

const encodeCursor = ({ account, balance }: AccountCursor): string =>
  Buffer.from(`${balance} ${account}`).toString('base64url')

function decodeCursor(cursor: string): AccountCursor {
  const [balance = '', account = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ')
  if (!/^-?\d{1,40}$/.test(balance) || !isAccount(account)) {
    throw validationFailed({ cursor: [httpMessages.invalid_cursor] })
  }
  return { account, balance }
}
