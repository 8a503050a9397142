import { Type } from '@sinclair/typebox'
import { currencies as allCurrencies } from '../../../../schema/account.ts'
import { CurrencyName } from '../../../../schema/operator.ts'
import { decodeCursor, encodeCursor } from '../../../http/pages.ts'
import { type NumberedEntry, readAllLatestEntries } from '../../../ledger/indexes/latest-entries.ts'
import { account, currencyOf } from '../../../ledger/rules/account.ts'
import { amountCell, formatWord, textCell, timeCell, wordCell } from '../../frame/cells/cells.ts'
import { accountCell, accountPath, eventCell } from '../../frame/cells/links.ts'
import type { List } from '../../lists/list.ts'
import { userIdIn } from '../user/find-user.ts'
import { defineUserSection } from '../user/user-section.ts'

const filters = Type.Object({ currency: Type.Optional(CurrencyName) })

const history: List<typeof filters, NumberedEntry> = {
  label: 'History',
  filters,
  needsIndex: () => true,
  empty: 'Nothing has moved here yet. A credit, a gift or a salary would be the first movement.',
  columns: [
    {
      name: 'position',
      title: 'Event',
      cell: ({ position }) => eventCell(position),
    },
    { name: 'at', title: 'Time', cell: ({ at }) => timeCell(at) },
    { name: 'type', title: 'What', cell: ({ type }) => wordCell(type) },
    {
      name: 'account',
      title: 'Currency',
      cell: (entry) => ({
        ...textCell(formatWord(currencyOf(entry.account)), accountPath(entry.account)),
        value: entry.account,
      }),
    },
    {
      name: 'amount',
      title: 'Amount',
      isNumber: true,
      cell: (entry) => amountCell(currencyOf(entry.account), entry.amount),
    },
    {
      name: 'balance',
      title: 'Balance after',
      isNumber: true,
      cell: (entry) => amountCell(currencyOf(entry.account), entry.balance),
    },
    {
      name: 'counter_account',
      title: 'From or to',
      cell: ({ counter }) => accountCell(counter),
    },
  ],
  read: async ({ query: { currency }, db, at, cursor, limit }, request) => {
    const user = userIdIn(request.params)
    const numbered = allCurrencies.map((name) => account('user', user, name))
    const accounts = currency === undefined ? numbered : [account('user', user, currency)]
    const [position = at + 1, number = 0] = cursor === null ? [] : decodeCursor(cursor, 2)
    const before = { position, number }
    const entries = await readAllLatestEntries(db, { accounts, numbered, before, limit: limit + 1 })
    const rows = entries.slice(0, limit)
    const last = rows.at(-1)
    const next = entries.length > limit && last !== undefined ? encodeCursor([last.position, last.number]) : null
    return { rows, next }
  },
}

export const historySection = defineUserSection(
  {
    path: 'history',
    title: 'History',
    lead: 'Every movement of the user’s balances, newest first. An amount on hold has not moved yet.',
    choices: [
      {
        name: 'currency',
        label: 'Currency',
        options: [{ value: '', text: 'All' }, ...allCurrencies.map((value) => ({ value, text: formatWord(value) }))],
      },
    ],
  },
  history,
)
