import { headOf } from '../../db/head.ts'
import { entriesOf } from '../export/entries.ts'
import { withReads } from '../reports/reads.ts'
import { checkDraws, type DrawsChecked, drawFindings } from '../verify/draws/draws.ts'
import { type Audit, type DeclareCommand, JSON_FLAG } from './command.ts'
import { columns } from './printing.ts'

export const drawsCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('draws')
    .description('recomputes every lucky draw and spin, and compares what was drawn with the published odds')
    .option(...JSON_FLAG)
    .action(running(run))

async function run(audit: Audit, { json }: { readonly json?: true }): Promise<number> {
  const checked = await withReads(audit, async (db, reading) =>
    checkDraws(entriesOf(audit.url, { first: 1, last: await headOf(db) }, reading)),
  )
  const findings = drawFindings(checked)
  if (json) audit.terminal.line(JSON.stringify({ ...checked, findings }))
  else for (const line of [...lines(checked), ...findings, summary(checked, findings)]) audit.terminal.line(line)
  return findings.length
}

const times = (value: number): string => value.toLocaleString('en')
const percent = (share: number): string => `${(share * 100).toFixed(4)}%`

function lines({ lucky, spins }: DrawsChecked): string[] {
  return [
    ...lucky.flatMap(({ odds_hash, decoration_id, draws, p, rows }) => [
      `gift ${decoration_id}, odds ${odds_hash}: ${times(draws)} draws, chi-square p = ${p.toFixed(6)}`,
      ...columns(
        rows.map(({ multiplier, observed, expected }) => [
          `  × ${multiplier / 10_000}`,
          `${times(observed)} times`,
          draws === 0 ? '' : percent(observed / draws),
          `published ${percent(expected)}`,
        ]),
        [0, 1, 2, 3],
      ),
    ]),
    ...spins.map(
      ({ players, draws, p, places }) =>
        `${times(draws)} spins among ${players} players, chi-square p = ${p.toFixed(6)}: ` +
        `won by place ${places.map(({ observed }) => times(observed)).join(', ')}`,
    ),
  ]
}

function summary({ events, lucky, spins }: DrawsChecked, findings: readonly string[]): string {
  const drawn = lucky.reduce((sum, { draws }) => sum + draws, 0)
  const spun = spins.reduce((sum, { draws }) => sum + draws, 0)
  const looked = `${times(drawn)} draws and ${times(spun)} spins in ${times(events)} events`
  return findings.length === 0 ? `clean: ${looked}` : `findings: ${findings.length}, ${looked}`
}
