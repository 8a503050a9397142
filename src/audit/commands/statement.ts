import { currencyOf } from '../../ledger/rules/account.ts'
import { formatAmount, formatColumns } from '../format.ts'
import type { AsOf } from '../reports/period.ts'
import { readStatement, resolveStatementPeriod, type StatementLine, serializeStatement } from '../reports/statement.ts'
import {
  type CommandContext,
  JSON_FLAG,
  parseAccountFlag,
  parseAsOfFlag,
  type RegisterCommand,
  withQueryContext,
} from './command.ts'
import { formatPeriodHeading, readPeriodHeading } from './heading.ts'

interface Flags {
  readonly account: string
  readonly from?: AsOf
  readonly to?: AsOf
  readonly json?: true
}

export const statementCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('statement')
    .description('opening balance, each movement with the balance after it, closing balance')
    .requiredOption('--account <account>', 'such as user:7:diamonds', parseAccountFlag)
    .option('--from <time or position>', 'the first to include', parseAsOfFlag)
    .option('--to <time or position>', 'the last to include', parseAsOfFlag)
    .option(...JSON_FLAG)
    .action(running(run))

async function run(audit: CommandContext, { account, from, to, json }: Flags): Promise<number> {
  const { terminal } = audit
  await withQueryContext(audit, async (db, context) => {
    const period = await resolveStatementPeriod(db, { from: from ?? null, to: to ?? null })
    const heading = await readPeriodHeading(db, audit.asked, period)
    const statement = await readStatement(db, account, period, context)
    if (json) {
      for await (const text of serializeStatement(statement, heading)) await terminal.write(text)
      return terminal.write('\n')
    }
    const currency = currencyOf(account)
    for (const line of formatPeriodHeading(heading)) terminal.line(line)
    terminal.line(`opening balance ${formatAmount(currency, statement.opening)}`)
    let closing = statement.opening
    for await (const page of statement.lines) {
      if (page.length === 0) continue
      closing = page.at(-1)?.balance ?? closing
      terminal.clear()
      await terminal.write(
        `${formatColumns(
          page.map((line) => formatCells(currency, line)),
          [0, 4, 5],
        ).join('\n')}\n`,
      )
    }
    terminal.line(`closing balance ${formatAmount(currency, closing)}`)
  })
  return 0
}

const formatCells = (
  currency: string,
  { position, at, type, counter_account, amount, balance }: StatementLine,
): string[] => [
  String(position),
  at,
  type,
  counter_account,
  formatAmount(currency, amount),
  formatAmount(currency, balance),
]
