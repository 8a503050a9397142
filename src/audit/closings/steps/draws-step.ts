import { readEntries } from '../../export/read-entries.ts'
import { checkDraws, drawObservations } from '../../verify/draws/check-draws.ts'
import { writeHashed } from '../hashed-file.ts'
import { StepFindings } from '../step-findings.ts'
import { tableOf } from '../step-state.ts'
import type { StepWork } from '../step-task.ts'

/** Recomputes every draw up to the month's end, as odds and chains may be older than the month. */
export const checkDrawsStep: StepWork = async ({ url, last, folder }, db, context) => {
  const report = await checkDraws(readEntries(url, { first: 1, last }, context))
  const { faults } = report
  const found = await StepFindings.of('draws', db)
  for (const { position, message } of faults) found.add('draw', String(position), message)
  const observations = drawObservations(report)
  const text = JSON.stringify({ position: last, ...report, observations })
  const file = await writeHashed(folder, 'draws.json', `${text}\n`)
  const drawn = report.lucky.reduce((sum, { draws }) => sum + draws, 0)
  const spun = report.spins.reduce((sum, { draws }) => sum + draws, 0)
  const checked = `Recomputed draws: ${drawn.toLocaleString('en')}, spins: ${spun.toLocaleString('en')}`
  return {
    ...found.outcome,
    result: tableOf(
      faults.length === 0 ? `${checked}. All are as published.` : `${checked}. Findings: ${faults.length}.`,
      ['position', 'message'],
      [
        ...faults.map(({ position, message }) => [String(position), message]),
        ...observations.map((observation) => ['', `Observation, which stops nothing: ${observation}`]),
      ],
    ),
    files: [file],
  }
}
