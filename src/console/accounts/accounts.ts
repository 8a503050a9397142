import type { Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { type ChartEntry, chartOfAccounts } from '../../audit/reports/chart-of-accounts.ts'
import { BatchedLookup } from '../../db/queries/batched-lookup.ts'
import { currencies } from '../../ledger/rules/account.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { querySchemaOf, readTable, type Table } from '../lists/list.ts'
import { accountKinds, accountList } from './account-list.ts'
import { accountPage } from './account-page.ts'
import { accountStatements } from './account-statements.ts'

interface AccountsData {
  readonly query: Static<typeof accountList.filters>
  readonly kinds: readonly string[]
  readonly currencies: readonly string[]
  /** Of the kind that is shown; null for all. */
  readonly meaning: string | null
  readonly chart: readonly ChartEntry[]
  readonly table: Table
}

const template = defineTemplate<AccountsData>('/accounts/accounts.eta')

const MAX_SHARED = 100
/** One sorting at a time, for all who ask for it meanwhile. */
const SORTING_LIMITS = { maxQueries: 1, slots: null, maxWaiting: 1_000, maxWaitMs: 3_000 }

/** /console/accounts: all accounts, and each with its balance, holds and movements. */
export const accountPages: ConsolePages = (scope, services) => {
  const { filters } = accountList
  const schema = { querystring: querySchemaOf({ filters }) }
  const readSorted = sharedTables(services)
  scope.get('/accounts', { schema }, async (request, reply) => {
    const isSorted = request.query.sort === 'balance' || request.query.sort === '-balance'
    const table = await (isSorted ? readSorted(request) : readAccounts(request, services))
    const { kind } = request.query
    const meaning = chartOfAccounts.find(({ account }) => account === `${kind}:<id>`)?.meaning ?? null
    const data = { query: request.query, kinds: accountKinds, currencies, meaning, chart: chartOfAccounts, table }
    return sendPage(request, reply, template, { title: 'Accounts', data })
  })
  addExports(scope, '/accounts', accountList, services)
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
