import type { Test } from 'tap'
import { checkpointSigner } from '../../../src/audit/checkpoint.ts'
import type { StepState } from '../../../src/audit/closings/step.ts'
import { startSteps } from '../../../src/audit/closings/steps-job.ts'
import { Jobs } from '../../../src/audit/jobs/jobs.ts'
import type { ClosingStep } from '../../../src/features/closings/closing.ts'
import { readDb, type TestApp } from '../../harness/app/test-app.ts'
import { oldMonth } from '../old-ledger.ts'

export const CHECKPOINT_KEY = 'a checkpoint key for tests'

/** Runs steps of a month as the console does. */
export const runSteps = async (
  t: Test,
  { database, closingsFolder }: TestApp,
  steps: readonly ClosingStep[],
  month = oldMonth,
): Promise<readonly StepState[]> => {
  const jobs = new Jobs(database.serviceUrl, console)
  t.teardown(() => jobs.close())
  const signer = checkpointSigner(CHECKPOINT_KEY)
  const parts = { jobs, url: database.serviceUrl, db: readDb(t, database), signer, piiKey: null, closingsFolder }
  const states: StepState[] = []
  const onStep = (state: StepState): void => void states.push(state)
  const { ended } = await startSteps(parts, { month, steps, startedBy: 'staff:fin' }, { onStep })
  await ended
  return states
}
