import type { Test } from 'tap'
import { workOf } from '../../src/audit/closings/step-work.ts'
import { auditWorker } from '../../src/audit/verify/audit-worker.ts'
import { verify } from '../../src/audit/verify/verify.ts'
import { openPool } from '../../src/db/pool.ts'
import { queryBuilder } from '../../src/db/queries/query-builder.ts'

type Worker = typeof auditWorker

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
  const verifyHere: Worker['verify'] = (url, asOf, signal, progress, checkpoint = null) =>
    untilAborted(verify(url, { asOf, checkpoint, signal, progress }), signal)
  const closingStep: Worker['closingStep'] = (step, task, signal) => {
    const db = queryBuilder(openPool(task.url, { max: 2, application_name: 'audit worker' }))
    const work = workOf(step)(task, db, { signal, onPlanned: () => {}, onScanned: () => {} })
    return untilAborted(
      work.finally(() => db.destroy()),
      signal,
    )
  }
  t.intercept(auditWorker, 'verify', { value: verifyHere })
  t.intercept(auditWorker, 'closingStep', { value: closingStep })
  t.teardown(() => Promise.all(tasks))
}
