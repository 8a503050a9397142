import { Option } from 'commander'
import { headOf } from '../../db/head.ts'
import { formatAmount, formatColumns, formatDecimal, toJson } from '../format.ts'
import { readAccountTotals } from '../reports/account-totals.ts'
import { type AsOf, resolveAsOf, resolvePeriod } from '../reports/period.ts'
import { foldTrialBalance, readTrialBalance, type TrialBalance } from '../reports/trial-balance.ts'
import { printAccountBalances } from './account-balances.ts'
import { type CommandContext, JSON_FLAG, parseAsOfFlag, type RegisterCommand, withQueryContext } from './command.ts'
import { formatHeading, type Heading, readHeading, readPeriodHeading } from './heading.ts'

interface Flags {
  readonly by: 'kind' | 'account'
  readonly asOf?: AsOf
  readonly from?: AsOf
  readonly to?: AsOf
  readonly csv?: true
  readonly json?: true
}

export const trialBalanceCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('trial-balance')
    .description('every kind of account in every currency, or every account, summing to zero')
    .addOption(
      new Option('--by <what>', 'kinds of accounts, or each account with its opening, debits, credits and closing')
        .choices(['kind', 'account'])
        .default('kind'),
    )
    .option(
      '--as-of <time or position>',
      'as of then, folded from the ledger; without it, the current balances',
      parseAsOfFlag,
    )
    .option('--from <time or position>', 'with --by account: the first to include', parseAsOfFlag)
    .option('--to <time or position>', 'with --by account: the last to include', parseAsOfFlag)
    .option('--csv', 'for spreadsheets: dollars with two decimals; the heading goes to the error output')
    .option(...JSON_FLAG)
    .action(running(run))

/** A currency that does not sum to zero is a finding. */
async function run(audit: CommandContext, flags: Flags): Promise<number> {
  const { by, asOf, from, to, csv, json } = flags
  if (csv && json) throw new Error('--csv and --json exclude each other.')
  if (by === 'account') return runByAccount(audit, flags)
  if (from !== undefined || to !== undefined) throw new Error('--from and --to need --by account.')
  const { balance, heading } = await withQueryContext(audit, async (db, context) => {
    const period = asOf && (await resolveAsOf(db, asOf, await headOf(db), 'as-of'))
    const balance = await (period === undefined ? readTrialBalance(db) : foldTrialBalance(db, period.last, context))
    return { balance, heading: await readHeading(db, audit.asked, balance.position, period?.untilNow) }
  })
  if (csv) {
    audit.terminal.remark(formatHeading(heading).join('\n'))
    await audit.terminal.write(formatCsv(balance, heading))
  } else if (json) audit.terminal.line(toJson({ ...heading, ...balance }))
  else for (const line of [...formatHeading(heading), ...formatReport(balance)]) audit.terminal.line(line)
  return balance.currencies.filter(({ total }) => total !== 0n).length
}

async function runByAccount(audit: CommandContext, { asOf, from, to, csv, json }: Flags): Promise<number> {
  if (asOf !== undefined && to !== undefined) throw new Error('--as-of and --to exclude each other.')
  return withQueryContext(audit, async (db, context) => {
    const head = await headOf(db)
    if (asOf !== undefined) await resolveAsOf(db, asOf, head, 'as-of')
    const end = asOf === undefined ? { to: to ?? null } : ({ to: asOf, endField: 'as-of' } as const)
    const period = await resolvePeriod(db, { from: from ?? null, ...end }, head)
    const heading = await readPeriodHeading(db, audit.asked, period)
    const format = csv ? 'csv' : json ? 'json' : 'text'
    return printAccountBalances(audit.terminal, heading, readAccountTotals(db, period, context), format)
  })
}

/** As people sum it: no row for totals, which would be counted twice. */
function formatCsv({ currencies }: TrialBalance, { position, at }: Heading): string {
  const lines = currencies.flatMap(({ currency, accounts }) =>
    accounts.map(
      ({ kind, balance, count }) =>
        `${currency},${kind},${formatDecimal(currency, balance)},${count},${position},${at}\n`,
    ),
  )
  return `currency,kind,balance,accounts,position,at\n${lines.join('')}`
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
