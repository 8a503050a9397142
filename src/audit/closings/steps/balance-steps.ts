import { currencyOf } from '../../../ledger/rules/account.ts'
import { csvText } from '../../csv.ts'
import { formatAmount, formatDecimal } from '../../format.ts'
import { type AccountTotals, CurrencyTotals, isBalanced, readAccountTotals } from '../../reports/account-totals.ts'
import { HashedFile, writeHashed } from '../hashed-file.ts'
import { tableOf } from '../step-state.ts'
import type { StepWork } from '../step-task.ts'

const COLUMNS = ['opening', 'debits', 'credits', 'closing'] as const
const ACCOUNTS_HEADER = `account,currency,${COLUMNS.join(',')}\n`

const amountsOf = (totals: AccountTotals, format: (currency: string, amount: bigint) => string): string[] => {
  const currency = currencyOf(totals.account)
  return COLUMNS.map((column) => format(currency, totals[column]))
}

const accountLine = (totals: AccountTotals): string =>
  `${csvText(totals.account)},${currencyOf(totals.account)},${amountsOf(totals, formatDecimal).join(',')}\n`

interface KindTotals {
  readonly kind: string
  readonly currency: string
  balance: bigint
  accounts: number
}

/** Every account with its opening and closing balance, and their sums by kind: each currency must sum to zero. */
export const trialBalanceStep: StepWork = async ({ first, last, folder }, db, context) => {
  const accounts = await HashedFile.create(folder, 'accounts.csv')
  await accounts.write(ACCOUNTS_HEADER)
  const kinds = new Map<string, KindTotals>()
  const totals = new CurrencyTotals()
  for await (const page of readAccountTotals(db, { first, last }, context)) {
    for (const one of page) {
      totals.add(one)
      const currency = currencyOf(one.account)
      const kind = one.account.slice(0, one.account.indexOf(':'))
      const key = `${currency} ${kind}`
      const sum = kinds.get(key) ?? { kind, currency, balance: 0n, accounts: 0 }
      sum.balance += one.closing
      sum.accounts += 1
      kinds.set(key, sum)
    }
    await accounts.write(page.map(accountLine).join(''))
  }
  const lines = [...kinds.values()].map(
    ({ currency, kind, balance, accounts: count }) =>
      `${currency},${kind},${formatDecimal(currency, balance)},${count}\n`,
  )
  const file = await writeHashed(folder, 'trial-balance.csv', `currency,kind,balance,accounts\n${lines.join('')}`)
  const wrong = totals.all.filter((total) => !isBalanced(total)).map(({ account: currency }) => currency)
  const rows = [...kinds.values()].map(({ currency, kind, balance, accounts: count }) => [
    currency,
    kind,
    formatAmount(currency, balance),
    count.toLocaleString('en'),
  ])
  return {
    passed: wrong.length === 0,
    result: tableOf(
      wrong.length === 0 ? 'Every currency sums to zero.' : `Not zero: ${wrong.join(', ')}.`,
      ['currency', 'kind', 'balance', 'accounts'],
      rows,
    ),
    files: [file, await accounts.close()],
  }
}

/** What the platform took in, paid out and issued. */
export const houseAccountsStep: StepWork = async ({ first, last, folder }, db, context) => {
  const house: AccountTotals[] = []
  for await (const page of readAccountTotals(db, { first, last }, context)) {
    house.push(...page.filter(({ account }) => /^(house|issuance):/.test(account)))
  }
  const file = await writeHashed(folder, 'house-accounts.csv', ACCOUNTS_HEADER + house.map(accountLine).join(''))
  return {
    passed: true,
    result: tableOf(
      `${house.length} accounts of the house and of issuance.`,
      ['account', ...COLUMNS],
      house.map((totals) => [totals.account, ...amountsOf(totals, formatAmount)]),
    ),
    files: [file],
  }
}
