import { headOf } from '../../../db/head.ts'
import { VERIFICATION_RUNNING } from '../../../features/closings/closing-steps.ts'
import { formatFindingCount, MAX_FINDINGS, subjectOf } from '../../finding.ts'
import type { Progress } from '../../ledger-scan.ts'
import { insertRun } from '../../runs/run-rows.ts'
import { runVerification } from '../../runs/run-verification.ts'
import { ClosingRefused } from '../closing-refused.ts'
import { writeHashed } from '../hashed-file.ts'
import { StepFindings } from '../step-findings.ts'
import { tableOf } from '../step-state.ts'
import type { StepOptions, StepOutcome } from '../step-task.ts'

/**
 * The whole ledger and its tables, against the checkpoint of the closing before. It is a verification as staff start it:
 * one at a time, listed among the others.
 */
export async function verifyStep(
  { url, db, books, folder, piiKey, madeBy, signal, log }: StepOptions,
  progress: (progress: Progress) => void,
): Promise<StepOutcome> {
  const checkpoint = books.previous?.checkpoint ?? null
  const total = await headOf(db)
  const id = await insertRun(db, { startedBy: madeBy, key: null, total, checkpoint })
  if (id === null) throw new ClosingRefused(VERIFICATION_RUNNING)
  const verification = await runVerification(db, { id, url, checkpoint, piiKey, total, signal, log, progress })
  const { findings, events, position } = verification
  const file = await writeHashed(folder, 'verification.json', `${JSON.stringify({ ...verification, checkpoint })}\n`)
  const found = await StepFindings.of('verify', db)
  for (const one of findings) found.add(one.check, subjectOf(one), one.message)
  if (found.open >= MAX_FINDINGS) found.endEarly()
  const after = position - books.last
  const later = after > 0 ? `, ${after.toLocaleString('en')} of them after the month` : ''
  const checked = `${events.toLocaleString('en')} events up to position ${position}${later}`
  return {
    ...found.outcome,
    result: tableOf(
      findings.length === 0 ? `Clean: ${checked}.` : `${formatFindingCount(findings.length)} in ${checked}.`,
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
