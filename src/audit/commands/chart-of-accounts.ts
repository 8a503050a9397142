import { formatColumns } from '../format.ts'
import { chartOfAccounts } from '../reports/chart-of-accounts.ts'
import { JSON_FLAG, type RegisterCommand } from './command.ts'

/** Needs no database: the chart is that of this version of the program. */
export const chartOfAccountsCommand: RegisterCommand = (audit) =>
  void audit
    .command('chart-of-accounts')
    .description('what each kind of account holds, and which may be negative')
    .option(...JSON_FLAG)
    .action(({ json }: { readonly json?: true }) => {
      const chart = chartOfAccounts.map(({ account, mayBeNegative, meaning }) => ({
        account,
        may_be_negative: mayBeNegative,
        meaning,
      }))
      const rows = chartOfAccounts.map((entry) => [
        entry.account,
        entry.mayBeNegative ? 'may be negative' : 'never negative',
        entry.meaning,
      ])
      audit.configureOutput().writeOut?.(`${json ? JSON.stringify(chart) : formatColumns(rows, []).join('\n')}\n`)
    })
