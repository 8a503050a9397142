import type { Moment } from '../reports/as-of.ts'
import { lastBy } from '../reports/period.ts'
import { withReads } from '../reports/reads.ts'
import { type TrialBalance, trialBalance, trialBalanceAt } from '../reports/trial-balance.ts'
import { type Audit, type DeclareCommand, JSON_FLAG, momentFlag } from './command.ts'
import { amountText, columns, jsonText } from './printing.ts'

interface Flags {
  readonly asOf?: Moment
  readonly json?: true
}

export const trialBalanceCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('trial-balance')
    .description('every kind of account in every currency, summing to zero')
    .option(
      '--as-of <time or position>',
      'as it was then, from the ledger; without it, the balances of now',
      momentFlag,
    )
    .option(...JSON_FLAG)
    .action(running(run))

/** A currency that does not sum to zero is a finding. */
async function run(audit: Audit, { asOf, json }: Flags): Promise<number> {
  const balance = await withReads(audit, async (db, reading) => {
    if (asOf === undefined) return trialBalance(db)
    const { position: head } = await db.selectFrom('ledger_head').select('position').executeTakeFirstOrThrow()
    return trialBalanceAt(db, await lastBy(db, asOf, head, 'as-of'), reading)
  })
  if (json) audit.terminal.line(jsonText(balance))
  else for (const line of lines(balance)) audit.terminal.line(line)
  return balance.currencies.filter(({ total }) => total !== 0n).length
}

function lines({ position, currencies }: TrialBalance): string[] {
  const rows = currencies.flatMap(({ currency, accounts, total }) => [
    ...accounts.map(({ kind, balance, count }) => [
      currency,
      kind,
      amountText(currency, balance),
      count.toLocaleString('en'),
    ]),
    [currency, 'total', amountText(currency, total), total === 0n ? '' : 'NOT ZERO'],
  ])
  return [`as of position ${position}`, ...columns([['currency', 'kind', 'balance', 'accounts'], ...rows], [2, 3])]
}
