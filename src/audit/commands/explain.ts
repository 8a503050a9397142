import type { Currency } from '../../ledger/rules/account.ts'
import { type Explanation, explain } from '../reports/explain.ts'
import { withReads } from '../reports/reads.ts'
import { type Audit, currencyFlag, type DeclareCommand, JSON_FLAG, userFlag } from './command.ts'
import { amountText, columns, jsonText } from './printing.ts'

interface Flags {
  readonly user: number
  readonly currency: Currency
  readonly json?: true
}

export const explainCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('explain')
    .description('why a user can spend what they can: the balance, where it came from, less each hold')
    .requiredOption('--user <id>', 'whose', userFlag)
    .requiredOption('--currency <currency>', 'coins, diamonds, target, dollars or agent_dollars', currencyFlag)
    .option(...JSON_FLAG)
    .action(running(run))

/** A balance that is not what its movements come to is a finding. */
async function run(audit: Audit, { user, currency, json }: Flags): Promise<number> {
  const explained = await withReads(audit, (db, reading) => explain(db, user, currency, reading))
  if (json) audit.terminal.line(jsonText(explained))
  else for (const line of lines(explained)) audit.terminal.line(line)
  return explained.balance === explained.sum ? 0 : 1
}

function lines({
  account,
  position,
  balance,
  holds,
  available,
  sources,
  sum,
  latest,
  currency,
}: Explanation): string[] {
  const amount = (value: bigint): string => amountText(currency, value)
  return [
    `${account} as of position ${position}`,
    ...columns(
      [
        ['balance', amount(balance), ''],
        ...holds.map((hold) => [`less held by ${hold.reason} (position ${hold.position})`, amount(-hold.amount), '']),
        ['available', amount(available), ''],
      ],
      [1],
    ),
    ...(sum === balance ? [] : [`NOT WHAT ITS MOVEMENTS COME TO: ${amount(sum)}`]),
    ...(sources.length === 0 ? ['It never moved.'] : ['', 'where it came from and went:']),
    ...columns(
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
    ...columns(
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
