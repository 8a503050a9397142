import type { Currency } from '../../ledger/rules/account.ts'
import { formatAmount, formatColumns, toJson } from '../format.ts'
import { type Explanation, explainBalance } from '../reports/explain.ts'
import {
  type CommandContext,
  JSON_FLAG,
  parseCurrencyFlag,
  parseUserFlag,
  type RegisterCommand,
  withQueryContext,
} from './command.ts'
import { formatHeading, readHeading } from './heading.ts'

interface Flags {
  readonly user: number
  readonly currency: Currency
  readonly json?: true
}

export const explainCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('explain')
    .description('why a user can spend what they can: the balance, where it came from, less each hold')
    .requiredOption('--user <id>', 'whose balance', parseUserFlag)
    .requiredOption('--currency <currency>', 'coins, diamonds, target, dollars or agent_dollars', parseCurrencyFlag)
    .option(...JSON_FLAG)
    .action(running(run))

/** A balance that differs from the sum of its movements is a finding. */
async function run(audit: CommandContext, { user, currency, json }: Flags): Promise<number> {
  const { explanation, heading } = await withQueryContext(audit, async (db, context) => {
    const explanation = await explainBalance(db, user, currency, context)
    return { explanation, heading: await readHeading(db, audit.asked, explanation.position) }
  })
  if (json) audit.terminal.line(toJson({ ...heading, ...explanation }))
  else for (const line of [...formatHeading(heading), ...formatReport(explanation)]) audit.terminal.line(line)
  return explanation.balance === explanation.sum ? 0 : 1
}

function formatReport({ account, balance, holds, available, sources, sum, latest, currency }: Explanation): string[] {
  const amount = (value: bigint): string => formatAmount(currency, value)
  return [
    account,
    ...formatColumns(
      [
        ['balance', amount(balance), ''],
        ...holds.map((hold) => [`less held by ${hold.reason} (position ${hold.position})`, amount(-hold.amount), '']),
        ['available', amount(available), ''],
      ],
      [1],
    ),
    ...(sum === balance ? [] : [`DIFFERS FROM THE SUM OF ITS MOVEMENTS: ${amount(sum)}`]),
    ...(sources.length === 0 ? ['no movements'] : ['', 'where it came from and where it went:']),
    ...formatColumns(
      sources.map(({ type, counter, count, amount: sum, first, last }) => [
        type,
        counter,
        count === 1 ? 'once' : `${count.toLocaleString('en')} times`,
        amount(sum),
        first === last ? `position ${first}` : `positions ${first} to ${last}`,
      ]),
      [2, 3],
    ),
    ...(latest.length === 0 ? [] : ['', 'the last movements, with the balance after each:']),
    ...formatColumns(
      latest.map((line) => [
        String(line.position),
        line.at,
        line.type,
        line.counter_account,
        amount(line.amount),
        amount(line.balance),
      ]),
      [0, 4, 5],
    ),
  ]
}
