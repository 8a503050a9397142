import { headOf } from '../../db/head.ts'
import { readEntries } from '../export/read-entries.ts'
import { formatColumns } from '../format.ts'
import { formatHeading, readHeading } from '../heading.ts'
import { checkDraws, type DrawReport, drawFindings } from '../verify/draws/check-draws.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand } from './command.ts'
import { withQueryContext } from './with-query-context.ts'

export const drawsCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('draws')
    .description('recomputes every lucky draw and spin, and compares what was drawn with the published odds')
    .option(...JSON_FLAG)
    .action(running(run))

async function run(audit: CommandContext, { json }: { readonly json?: true }): Promise<number> {
  const { report, heading } = await withQueryContext(audit, async (db, context, url) => {
    const last = await headOf(db)
    const report = await checkDraws(readEntries(url, { first: 1, last }, context))
    return { report, heading: await readHeading(db, audit.asked, last) }
  })
  const findings = drawFindings(report)
  if (json) audit.terminal.line(JSON.stringify({ ...heading, ...report, findings }))
  else
    for (const line of [
      ...formatHeading(heading),
      ...formatReport(report),
      ...findings,
      formatSummary(report, findings),
    ])
      audit.terminal.line(line)
  return findings.length
}

const formatCount = (value: number): string => value.toLocaleString('en')
const formatP = (p: number | null, outcomes: number): string => {
  if (p !== null) return `chi-square p = ${p.toFixed(6)}`
  return outcomes < 2 ? 'only one outcome, nothing to judge' : 'too few draws to judge'
}
const formatPercent = (share: number): string => `${(share * 100).toFixed(4)}%`

function formatReport({ lucky, spins }: DrawReport): string[] {
  return [
    ...lucky.flatMap(({ odds_hash, decoration_id, draws, p, rows }) => [
      `gift ${decoration_id}, odds ${odds_hash}: ${formatCount(draws)} draws, ${formatP(p, rows.length)}`,
      ...formatColumns(
        rows.map(({ multiplier, observed, expected }) => [
          `  × ${multiplier / 10_000}`,
          `${formatCount(observed)} times`,
          draws === 0 ? '' : formatPercent(observed / draws),
          `published ${formatPercent(expected)}`,
        ]),
        [0, 1, 2, 3],
      ),
    ]),
    ...spins.map(
      ({ players, draws, p, places }) =>
        `${formatCount(draws)} spins among ${players} players, ${formatP(p, places.length)}: ` +
        `won by place ${places.map(({ observed }) => formatCount(observed)).join(', ')}`,
    ),
  ]
}

function formatSummary({ events, lucky, spins }: DrawReport, findings: readonly string[]): string {
  const drawn = lucky.reduce((sum, { draws }) => sum + draws, 0)
  const spun = spins.reduce((sum, { draws }) => sum + draws, 0)
  const checked = `${formatCount(drawn)} draws and ${formatCount(spun)} spins in ${formatCount(events)} events`
  return findings.length === 0 ? `clean: ${checked}` : `findings: ${findings.length}, ${checked}`
}
