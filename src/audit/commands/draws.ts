import { headOf } from '../../db/head.ts'
import { formatColumns } from '../format.ts'
import { checkDrawsUpTo } from '../verify/draws/check-draws.ts'
import { type DrawReport, drawObservations } from '../verify/draws/draw-counts.ts'
import { type FrequencyTest, MIN_P_VALUE } from '../verify/draws/frequency-test.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand, withQueryContext } from './command.ts'
import { formatHeading, readHeading } from './heading.ts'

export const drawsCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('draws')
    .description('recomputes every lucky draw and spin, and compares what was drawn with the published odds')
    .option('--full', 'begins at position 1, not at the newest seal')
    .option(...JSON_FLAG)
    .action(running(run))

interface Flags {
  readonly full?: true
  readonly json?: true
}

async function run(audit: CommandContext, { full, json }: Flags): Promise<number> {
  const { report, heading } = await withQueryContext(audit, async (db, context, url) => {
    const last = await headOf(db)
    const report = await checkDrawsUpTo({ url, db, last, after: full ? 0 : last }, context)
    return { report, heading: await readHeading(db, audit.asked, last) }
  })
  const findings = report.faults.map(({ position, message }) => `position ${position}: ${message}`)
  const observations = drawObservations(report)
  if (json) audit.terminal.line(JSON.stringify({ ...heading, ...report, findings, observations }))
  else
    for (const line of [
      ...formatHeading(heading),
      ...(report.seal === null ? [] : [`from seal at ${report.seal}; draws before it not counted`]),
      ...formatReport(report),
      ...findings,
      ...observations.map((observation) => `observation: ${observation}`),
      formatSummary(report, findings),
    ])
      audit.terminal.line(line)
  return findings.length
}

const formatCount = (value: number): string => value.toLocaleString('en')
const formatTest = ({ p, degrees, statistic }: FrequencyTest): string => {
  if (p === null) return 'nothing to judge'
  const square = degrees === 0 ? 'too few draws' : `${statistic.toFixed(2)}, ${degrees} degrees of freedom`
  return `p = ${p < MIN_P_VALUE ? p.toExponential(2) : p.toFixed(6)} (chi-square: ${square})`
}
const formatPercent = (share: number): string => `${(share * 100).toFixed(4)}%`

function formatReport({ lucky, unannounced, spins }: DrawReport): string[] {
  return [
    ...lucky.flatMap(({ odds_hash, decoration_id, rows, ...test }) => [
      `gift ${decoration_id}, odds ${odds_hash}: ${formatCount(test.draws)} draws, ${formatTest(test)}`,
      ...formatColumns(
        rows.map(({ multiplier, observed, expected }) => [
          `  × ${multiplier / 10_000}`,
          `${formatCount(observed)} times`,
          test.draws === 0 ? '' : formatPercent(observed / test.draws),
          `published ${formatPercent(expected)}`,
        ]),
        [0, 1, 2, 3],
      ),
    ]),
    `draws that were not announced: ${formatCount(unannounced)}`,
    ...spins.map(
      ({ players, places, ...test }) =>
        `${formatCount(test.draws)} spins among ${players} players, ${formatTest(test)}: ` +
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
