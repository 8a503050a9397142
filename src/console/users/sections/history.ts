import { Type } from '@sinclair/typebox'
import { currencies as allCurrencies, CurrencyName } from '../../../../schema/common.ts'
import { decodeCursor } from '../../../http/pages.ts'
import { type NumberedEntry, readAllLatestEntries } from '../../../ledger/indexes/latest-entries.ts'
import { account, currencyOf } from '../../../ledger/rules/account.ts'
import { amountCell, formatWord, textCell, timeCell, wordCell } from '../../frame/cells.ts'
import { accountCell, accountPath, eventCell } from '../../frame/links.ts'
import { choiceFilter } from '../../lists/filters.ts'
import { column, numberColumn } from '../../lists/list.ts'
import { pageOfRows } from '../../lists/next-page.ts'
import { userIdIn } from '../find-user.ts'
import { defineUserSection } from '../user-section.ts'

const filters = Type.Object({ currency: Type.Optional(CurrencyName) })

export const historySection = defineUserSection<typeof filters, NumberedEntry>({
  path: 'history',
  lead: 'Every movement of the user’s balances, newest first. An amount on hold has not moved yet.',
  choices: [
    choiceFilter('currency', 'Currency', [['', 'All'], ...allCurrencies.map((one) => [one, formatWord(one)] as const)]),
  ],
  label: 'History',
  filters,
  needsIndex: () => true,
  empty: 'Nothing has moved here yet. A credit, a gift or a salary would be the first movement.',
  columns: [
    column('position', 'Event', ({ position }) => eventCell(position)),
    column('at', 'Time', ({ at }) => timeCell(at)),
    column('type', 'What', ({ type }) => wordCell(type)),
    column('account', 'Currency', (entry) => ({
      ...textCell(formatWord(currencyOf(entry.account)), accountPath(entry.account)),
      value: entry.account,
    })),
    numberColumn('amount', 'Amount', (entry) => amountCell(currencyOf(entry.account), entry.amount)),
    numberColumn('balance', 'Balance after', (entry) => amountCell(currencyOf(entry.account), entry.balance)),
    column('counter_account', 'From or to', ({ counter }) => accountCell(counter)),
  ],
  read: async ({ query: { currency }, db, at, cursor, limit }, request) => {
    const user = userIdIn(request.params)
    const numbered = allCurrencies.map((name) => account('user', user, name))
    const accounts = currency === undefined ? numbered : [account('user', user, currency)]
    const [position = at + 1, number = 0] = cursor === null ? [] : decodeCursor(cursor, 2)
    const before = { position, number }
    const entries = await readAllLatestEntries(db, { accounts, numbered, before, limit: limit + 1 })
    return pageOfRows(entries, limit, (entry) => [entry.position, entry.number])
  },
})
