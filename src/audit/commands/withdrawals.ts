import { formatAmount, formatColumns } from '../format.ts'
import { type OpenWithdrawal, reportWithdrawals, type WithdrawalsReport } from '../reports/withdrawals.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand, withQueryContext } from './command.ts'
import { formatHeading, readHeading } from './heading.ts'

export const withdrawalsCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('withdrawals')
    .description(
      'what is pending, by age; what is approved and not yet transferred; who approved and who transferred what',
    )
    .option(...JSON_FLAG)
    .action(running(run))

async function run(audit: CommandContext, { json }: { readonly json?: true }): Promise<number> {
  const { report, heading } = await withQueryContext(audit, async (db, context) => {
    const report = await reportWithdrawals(db, context)
    return { report, heading: await readHeading(db, audit.asked, report.position) }
  })
  if (json) audit.terminal.line(JSON.stringify({ ...heading, ...report }))
  else for (const line of [...formatHeading(heading), ...formatReport(report)]) audit.terminal.line(line)
  return 0
}

function formatReport({ pending, approved, approvals, transfers }: WithdrawalsReport): string[] {
  return [
    ...formatSection('pending', pending.map(formatRequest)),
    ...formatSection(
      'approved and not yet transferred',
      approved.map((one) => [...formatRequest(one), `approved by ${one.approved_by}`]),
    ),
    ...formatSection(
      'who approved what',
      approvals.map(({ approved_by, approved_at, id, user_id, currency, amount, status }) => [
        approved_by,
        approved_at,
        `request ${id}`,
        `user ${user_id}`,
        `${formatAmount(currency, BigInt(amount))} ${currency}`,
        `now ${status}`,
      ]),
    ),
    ...formatSection(
      'who transferred what',
      transfers.map(({ transferred_by, transferred_at, id, user_id, target_id, currency, amount }) => [
        transferred_by,
        transferred_at,
        `request ${id}`,
        `user ${user_id}`,
        `to ${target_id}`,
        `${formatAmount(currency, BigInt(amount))} ${currency}`,
      ]),
    ),
  ]
}

const formatSection = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0
    ? [`${title}: none`]
    : [
        `${title}:`,
        ...formatColumns(
          rows.map(([first = '', ...rest]) => [`  ${first}`, ...rest]),
          [],
        ),
      ]

const formatRequest = ({ id, type, user_id, target_id, currency, amount, age_seconds }: OpenWithdrawal): string[] => [
  formatAge(age_seconds),
  `request ${id}`,
  type,
  `user ${user_id}`,
  `to ${target_id}`,
  `${formatAmount(currency, BigInt(amount))} ${currency}`,
]

/** `3 d 4 h`, `12 min` */
function formatAge(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
