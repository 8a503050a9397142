import { withReads } from '../reports/reads.ts'
import { type OpenWithdrawal, type WithdrawalsReport, withdrawalsReport } from '../reports/withdrawals.ts'
import { type Audit, type DeclareCommand, JSON_FLAG } from './command.ts'
import { amountText, columns } from './printing.ts'

export const withdrawalsCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('withdrawals')
    .description('what is pending, by age; what is approved and not yet transferred; who approved what')
    .option(...JSON_FLAG)
    .action(running(run))

async function run(audit: Audit, { json }: { readonly json?: true }): Promise<number> {
  const report = await withReads(audit, withdrawalsReport)
  if (json) audit.terminal.line(JSON.stringify(report))
  else for (const line of lines(report)) audit.terminal.line(line)
  return 0
}

function lines({ position, pending, approved, approvals }: WithdrawalsReport): string[] {
  return [
    `as of position ${position}`,
    ...section('pending', pending.map(open)),
    ...section(
      'approved and not yet transferred',
      approved.map((one) => [...open(one), `approved by ${one.approved_by}`]),
    ),
    ...section(
      'who approved what',
      approvals.map(({ approved_by, approved_at, id, user_id, currency, amount, status }) => [
        approved_by,
        approved_at,
        `request ${id}`,
        `user ${user_id}`,
        `${amountText(currency, BigInt(amount))} ${currency}`,
        `now ${status}`,
      ]),
    ),
  ]
}

const section = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0
    ? [`${title}: none`]
    : [
        `${title}:`,
        ...columns(
          rows.map(([first = '', ...rest]) => [`  ${first}`, ...rest]),
          [],
        ),
      ]

const open = ({ id, type, user_id, target_id, currency, amount, age_seconds }: OpenWithdrawal): string[] => [
  ageText(age_seconds),
  `request ${id}`,
  type,
  `user ${user_id}`,
  `to ${target_id}`,
  `${amountText(currency, BigInt(amount))} ${currency}`,
]

/** `3 d 4 h`, `12 min` */
function ageText(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
