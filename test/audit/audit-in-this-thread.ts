import type { Test } from 'tap'
import type { StepOutcome, StepTask, WorkedStep } from '../../src/audit/closings/step-task.ts'
import { workOf } from '../../src/audit/closings/step-work.ts'
import { auditWorker } from '../../src/audit/verify/audit-worker.ts'
import { verify } from '../../src/audit/verify/verify.ts'
import { openPool } from '../../src/db/pool.ts'
import { queryBuilder } from '../../src/db/queries/query-builder.ts'

type Verify = typeof auditWorker.verify

/**
 * Runs verifications and the steps of closings in this thread until the test ends: a thread loads the service again, which
 * takes longer than its work. Call it before anything that the work needs is opened, as the teardown waits for its end.
 */
export function auditInThisThread(t: Test): void {
  const tasks: Promise<unknown>[] = []
  const untilAborted = <Result>(task: Promise<Result>, signal: AbortSignal): Promise<Result> => {
    tasks.push(task.catch(() => {}))
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    return Promise.race([task, aborted])
  }
  const verifyHere: Verify = (url, target, signal, progress) =>
    untilAborted(verify(url, { ...target, signal, progress }), signal)
  const runStep = async (step: WorkedStep, task: StepTask, signal: AbortSignal): Promise<StepOutcome> => {
    const db = queryBuilder(openPool(task.url, { max: 2, application_name: 'audit worker' }))
    try {
      return await workOf(step)(task, db, { signal, onPlanned: () => {}, onScanned: () => {} })
    } finally {
      await db.destroy()
    }
  }
  const closingStep = (step: WorkedStep, task: StepTask, signal: AbortSignal): Promise<StepOutcome> =>
    untilAborted(runStep(step, task, signal), signal)
  t.intercept(auditWorker, 'verify', { value: verifyHere })
  t.intercept(auditWorker, 'closingStep', { value: closingStep })
  t.teardown(() => Promise.all(tasks))
}
