import { headOf } from '../../db/head.ts'
import { formatAmount, formatColumns, toJson } from '../format.ts'
import { formatHeading, readHeading } from '../heading.ts'
import type { AsOf } from '../reports/as-of.ts'
import { resolveAsOf } from '../reports/period.ts'
import { foldTrialBalance, readTrialBalance, type TrialBalance } from '../reports/trial-balance.ts'
import { type CommandContext, JSON_FLAG, parseAsOfFlag, type RegisterCommand } from './command.ts'
import { withQueryContext } from './with-query-context.ts'

interface Flags {
  readonly asOf?: AsOf
  readonly json?: true
}

export const trialBalanceCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('trial-balance')
    .description('every kind of account in every currency, summing to zero')
    .option(
      '--as-of <time or position>',
      'as of then, folded from the ledger; without it, the present balances',
      parseAsOfFlag,
    )
    .option(...JSON_FLAG)
    .action(running(run))

/** A currency that does not sum to zero is a finding. */
async function run(audit: CommandContext, { asOf, json }: Flags): Promise<number> {
  const { balance, heading } = await withQueryContext(audit, async (db, context) => {
    const period = asOf && (await resolveAsOf(db, asOf, await headOf(db), 'as-of'))
    const balance = await (period === undefined ? readTrialBalance(db) : foldTrialBalance(db, period.last, context))
    return { balance, heading: await readHeading(db, audit.asked, balance.position, period?.untilNow) }
  })
  if (json) audit.terminal.line(toJson({ ...heading, ...balance }))
  else for (const line of [...formatHeading(heading), ...formatReport(balance)]) audit.terminal.line(line)
  return balance.currencies.filter(({ total }) => total !== 0n).length
}

function formatReport({ currencies }: TrialBalance): string[] {
  const rows = currencies.flatMap(({ currency, accounts, total }) => [
    ...accounts.map(({ kind, balance, count }) => [
      currency,
      kind,
      formatAmount(currency, balance),
      count.toLocaleString('en'),
    ]),
    [currency, 'total', formatAmount(currency, total), total === 0n ? '' : 'NOT ZERO'],
  ])
  return formatColumns([['currency', 'kind', 'balance', 'accounts'], ...rows], [2, 3])
}
