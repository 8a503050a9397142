import { Type } from '@sinclair/typebox'
import { Text } from '../../../schema/common.ts'
import { type AccountCursor, type ListedAccount, listAccounts } from '../../audit/reports/accounts/list-accounts.ts'
import { httpMessages } from '../../http/messages.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { currencies, currencyOf, isAccount } from '../../ledger/rules/account.ts'
import { amountCell, textCell, wordCell } from '../frame/cells/cells.ts'
import { accountCell, holderPath } from '../frame/cells/links.ts'
import type { List } from '../lists/list.ts'
import { readHolderNames } from './holder-names.ts'

export const accountKinds = ['user', 'room', 'game', 'withdrawal', 'settled', 'house', 'issuance'] as const

const filters = Type.Object({
  kind: Type.Optional(Type.Union(accountKinds.map((kind) => Type.Literal(kind)))),
  currency: Type.Optional(Type.Union(currencies.map((currency) => Type.Literal(currency)))),
  q: Type.Optional(Text(100)),
  sort: Type.Optional(Type.Union([Type.Literal('balance'), Type.Literal('-balance')])),
})

export interface AccountRow extends ListedAccount {
  /** Of the user or room whose account it is; null for others. */
  readonly name: string | null
}

export const accountList: List<typeof filters, AccountRow> = {
  label: 'Accounts',
  filters,
  needsIndex: () => true,
  // Sorted by balance, each page reads and sorts all balances.
  exportPageRows: 5_000,
  empty: 'No account matches. Take away a filter, or search for a number of a user, room, game or withdrawal.',
  columns: [
    { name: 'account', title: 'Account', cell: ({ account }) => accountCell(account) },
    {
      name: 'holder',
      title: 'Holder',
      cell: ({ account, name }) => textCell(name, name === null ? undefined : holderPath(account)),
    },
    { name: 'currency', title: 'Currency', cell: ({ account }) => wordCell(currencyOf(account)) },
    {
      name: 'balance',
      title: 'Balance',
      isNumber: true,
      sort: 'balance',
      cell: ({ account, balance }) => amountCell(currencyOf(account), balance),
    },
    {
      name: 'held',
      title: 'On hold',
      isNumber: true,
      cell: ({ account, held }) => amountCell(currencyOf(account), held),
    },
    {
      name: 'available',
      title: 'Available',
      isNumber: true,
      cell: ({ account, balance, held }) => amountCell(currencyOf(account), balance - held),
    },
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
