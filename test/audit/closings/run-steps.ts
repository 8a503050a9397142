import type { Test } from 'tap'
import { checkpointSigner } from '../../../src/audit/checkpoint/checkpoint.ts'
import { monthFolder } from '../../../src/audit/closings/folder.ts'
import { readMonthBooks } from '../../../src/audit/closings/month-books.ts'
import { MonthLock } from '../../../src/audit/closings/month-lock.ts'
import { beginClosingStep } from '../../../src/audit/closings/run-closing-step.ts'
import type { StepState } from '../../../src/audit/closings/step-state.ts'
import type { ClosingStep } from '../../../src/features/closings/closing-steps.ts'
import { readDb, type TestApp } from '../../harness/app/test-app.ts'
import { oldMonth } from '../old-ledger.ts'

export const CHECKPOINT_KEY = 'a checkpoint key for tests'
const signer = checkpointSigner(CHECKPOINT_KEY)
const { signal } = new AbortController()

/** Runs steps of a month as the console does. */
export const runSteps = async (
  t: Test,
  { database, closingsFolder }: TestApp,
  steps: readonly ClosingStep[],
  of = oldMonth,
): Promise<readonly StepState[]> => {
  const db = readDb(t, database)
  const url = database.serviceUrl
  const lock = await MonthLock.forSteps(url, of)
  if (lock === null) throw new Error('others run steps')
  try {
    const books = await readMonthBooks(db, of)
    const folder = monthFolder(closingsFolder, of)
    const states: StepState[] = []
    for (const step of steps) {
      const options = {
        url,
        db,
        books,
        lock,
        folder,
        signer,
        piiKey: null,
        madeBy: 'staff:fin',
        signal,
        onStop: () => {},
        log: console,
      }
      const { ended } = await beginClosingStep(step, options, [], null)
      states.push(await ended)
    }
    return states
  } finally {
    await lock.close()
  }
}
