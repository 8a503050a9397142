import { VERIFICATION_RUNNING } from '../../../features/closings/closing.ts'
import { MAX_FINDINGS, subjectOf } from '../../finding.ts'
import { formatVerification, runVerification } from '../../jobs/verifications.ts'
import { ClosingRefused } from '../closing-refused.ts'
import { writeHashed } from '../hashed-file.ts'
import { StepFindings } from '../step-findings.ts'
import { tableOf } from '../step-state.ts'
import type { StepOptions, StepOutcome } from '../step-task.ts'

/**
 * The whole ledger and its tables, against the checkpoint of the closing before. It is a verification as staff start it:
 * one at a time, listed among the others.
 */
export async function verifyStep(options: StepOptions): Promise<StepOutcome> {
  const { url, db, books, folder, madeBy: startedBy } = options
  const checkpoint = books.previous?.checkpoint ?? null
  const parts = { ...options, chooseReportDatabase: async () => ({ db, url }) }
  const running = await runVerification(parts, { startedBy, key: null, checkpoint }, options)
  if (running === null) throw new ClosingRefused(VERIFICATION_RUNNING)
  const verification = await running.ended
  const { findings, position } = verification
  const file = await writeHashed(folder, 'verification.json', `${JSON.stringify({ ...verification, checkpoint })}\n`)
  const found = await StepFindings.of('verify', db)
  for (const one of findings) found.add(one.check, subjectOf(one), one.message)
  if (found.open >= MAX_FINDINGS) found.endEarly()
  const after = position - books.last
  const later = after > 0 ? `, ${after.toLocaleString('en')} of them after the month` : ''
  return {
    ...found.outcome,
    result: tableOf(
      `${formatVerification(verification)}${later}.`,
      ['check', 'position', 'table', 'id', 'message'],
      findings.map((one) => [
        one.check,
        one.position === null ? '' : String(one.position),
        one.table ?? '',
        one.id ?? '',
        one.message,
      ]),
    ),
    files: [file],
  }
}
