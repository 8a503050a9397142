import { readEntries } from '../../export/read-entries.ts'
import { checkDraws, drawFindings } from '../../verify/draws/check-draws.ts'
import { writeHashed } from '../hashed-file.ts'
import { tableOf } from '../step-state.ts'
import type { StepWork } from '../step-task.ts'

/** Recomputes every draw up to the month's end, as odds and chains may be older than the month. */
export const checkDrawsStep: StepWork = async ({ url, last, folder }, _db, context) => {
  const report = await checkDraws(readEntries(url, { first: 1, last }, context))
  const findings = drawFindings(report)
  const file = await writeHashed(folder, 'draws.json', `${JSON.stringify({ position: last, ...report, findings })}\n`)
  const drawn = report.lucky.reduce((sum, { draws }) => sum + draws, 0)
  const spun = report.spins.reduce((sum, { draws }) => sum + draws, 0)
  const checked = `Recomputed draws: ${drawn.toLocaleString('en')}, spins: ${spun.toLocaleString('en')}`
  return {
    passed: findings.length === 0,
    result: tableOf(
      findings.length === 0 ? `${checked}. All are as published.` : `${checked}. Findings: ${findings.length}.`,
      ['finding'],
      findings.map((finding) => [finding]),
    ),
    files: [file],
  }
}
