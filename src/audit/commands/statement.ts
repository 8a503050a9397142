import { currencyOf } from '../../ledger/rules/account.ts'
import type { Moment } from '../reports/as-of.ts'
import type { Period } from '../reports/period.ts'
import { withReads } from '../reports/reads.ts'
import { type StatementLine, statementJson, statementOf, statementPeriod } from '../reports/statement.ts'
import { type Audit, accountFlag, type DeclareCommand, JSON_FLAG, momentFlag } from './command.ts'
import { amountText, columns } from './printing.ts'

interface Flags {
  readonly account: string
  readonly from?: Moment
  readonly to?: Moment
  readonly json?: true
}

export const statementCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('statement')
    .description('opening balance, each movement with the balance after it, closing balance')
    .requiredOption('--account <account>', 'such as user:7:diamonds', accountFlag)
    .option('--from <time or position>', 'the first that is in it', momentFlag)
    .option('--to <time or position>', 'the last that is in it', momentFlag)
    .option(...JSON_FLAG)
    .action(running(run))

async function run(audit: Audit, { account, from, to, json }: Flags): Promise<number> {
  const { terminal } = audit
  await withReads(audit, async (db, reading) => {
    const period = await statementPeriod(db, account, { from: from ?? null, to: to ?? null })
    const statement = await statementOf(db, account, period, reading)
    if (json) {
      for await (const text of statementJson(statement)) await terminal.write(text)
      return terminal.write('\n')
    }
    const currency = currencyOf(account)
    terminal.line(`${account}, ${positions(period)}`)
    terminal.line(`opening balance ${amountText(currency, statement.opening)}`)
    let closing = statement.opening
    for await (const page of statement.lines) {
      if (page.length === 0) continue
      closing = page.at(-1)?.balance ?? closing
      terminal.clear()
      await terminal.write(
        `${columns(
          page.map((line) => cells(currency, line)),
          [0, 4, 5],
        ).join('\n')}\n`,
      )
    }
    terminal.line(`closing balance ${amountText(currency, closing)}`)
  })
  return 0
}

const positions = ({ first, last }: Period): string =>
  first > last ? 'no events' : first === last ? `position ${first}` : `positions ${first} to ${last}`

const cells = (currency: string, { position, at, type, counter_account, amount, balance }: StatementLine): string[] => [
  String(position),
  at,
  type,
  counter_account,
  amountText(currency, amount),
  amountText(currency, balance),
]
