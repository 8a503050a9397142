import type { Static } from '@sinclair/typebox'
import { currencies } from '../../ledger/rules/account.ts'
import type { ConsolePages } from '../console-services.ts'
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
  readonly table: Table
}

const template = defineTemplate<AccountsData>('/accounts/accounts.eta')

/** /console/accounts: all accounts, and each with its balance, holds and movements. */
export const accountPages: ConsolePages = (scope, services) => {
  const { filters } = accountList
  const schema = { querystring: querySchemaOf({ filters }) }
  scope.get('/accounts', { schema }, async (request, reply) => {
    const { table } = await readTable(accountList, request, services, '/console/accounts')
    const data = { query: request.query, kinds: accountKinds, currencies, table }
    return sendPage(request, reply, template, { title: 'Accounts', data })
  })
  addExports(scope, '/accounts', accountList, services)
  accountPage(scope, services)
  accountStatements(scope, services)
}
