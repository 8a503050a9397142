import { currencyOf } from '../../ledger/rules/account.ts'
import { formatAmount, formatColumns, formatDecimal, toJson } from '../format.ts'
import { type AccountTotals, CurrencyTotals, isBalanced } from '../reports/account-totals.ts'
import { formatPeriodHeading, type PeriodHeading } from './heading.ts'
import type { Terminal } from './terminal.ts'

export type ReportFormat = 'text' | 'csv' | 'json'

/** Prints a trial balance by account while it is read; answers how many currencies do not sum to zero. */
export async function printAccountBalances(
  terminal: Terminal,
  heading: PeriodHeading,
  pages: AsyncIterable<readonly AccountTotals[]>,
  format: ReportFormat,
): Promise<number> {
  const totals = new CurrencyTotals()
  const writer = writers[format]
  if (format === 'csv') terminal.remark(formatPeriodHeading(heading).join('\n'))
  await terminal.write(writer.begin(heading))
  let isFirst = true
  for await (const page of pages) {
    if (page.length === 0) continue
    for (const one of page) totals.add(one)
    terminal.clear()
    await terminal.write(writer.page(page, heading, isFirst))
    isFirst = false
  }
  terminal.clear()
  await terminal.write(writer.end(totals.all))
  return totals.all.filter((total) => !isBalanced(total)).length
}

interface Writer {
  readonly begin: (heading: PeriodHeading) => string
  readonly page: (page: readonly AccountTotals[], heading: PeriodHeading, isFirst: boolean) => string
  readonly end: (totals: readonly AccountTotals[]) => string
}

const COLUMNS = ['opening', 'debits', 'credits', 'closing'] as const
const RIGHT = [1, 2, 3, 4]

const toLines = (rows: readonly (readonly string[])[]): string => `${formatColumns(rows, RIGHT).join('\n')}\n`

const cells = (currency: string, totals: AccountTotals): string[] =>
  COLUMNS.map((column) => formatAmount(currency, totals[column]))

const writers: Readonly<Record<ReportFormat, Writer>> = {
  text: {
    begin: (heading) => formatPeriodHeading(heading).join('\n').concat('\n'),
    page: (page, _heading, isFirst) =>
      toLines([
        ...(isFirst ? [['account', ...COLUMNS]] : []),
        ...page.map((totals) => [totals.account, ...cells(currencyOf(totals.account), totals)]),
      ]),
    end: (totals) =>
      totals.length === 0
        ? 'no accounts\n'
        : toLines(
            totals.map((total) => [
              `all ${total.account}`,
              ...cells(total.account, total),
              isBalanced(total) ? '' : 'NOT ZERO',
            ]),
          ),
  },
  csv: {
    begin: () => `currency,kind,account,${COLUMNS.join(',')},from_position,to_position,to_at\n`,
    page: (page, { from_position, position, at }) =>
      page
        .map((totals) => {
          const { account } = totals
          const currency = currencyOf(account)
          const amounts = COLUMNS.map((column) => formatDecimal(currency, totals[column])).join(',')
          const kind = account.slice(0, account.indexOf(':'))
          return `${currency},${kind},${account},${amounts},${from_position},${position},${at}\n`
        })
        .join(''),
    // Readers who sum the columns get them; a row for them would be counted twice.
    end: () => '',
  },
  json: {
    begin: (heading) => `${JSON.stringify(heading).slice(0, -1)},"accounts":[`,
    page: (page, _heading, isFirst) => `${isFirst ? '' : ','}${page.map(toJson).join(',')}`,
    end: (totals) =>
      `],"totals":${toJson(totals.map(({ account: currency, ...amounts }) => ({ currency, ...amounts })))}}\n`,
  },
}
