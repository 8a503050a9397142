import type { Test } from 'tap'
import { threads } from '../../src/audit/jobs/threads.ts'

/**
 * Runs verifications and the steps of closings in this thread until the test ends: a thread loads the service again, which
 * takes longer than its work. Call it before anything that the work needs is opened, as the teardown waits for its end.
 */
export function auditInThisThread(t: Test): void {
  const tasks: Promise<unknown>[] = []
  const run: typeof threads.run = async (module, work, task, signal, progress) => {
    // As a thread finds it.
    const { [work.name]: exported }: Readonly<Record<string, unknown>> = await import(module)
    if (exported !== work) throw new Error(`${module} exports no ${work.name}`)
    const done = work(task, signal, progress)
    tasks.push(done.catch(() => {}))
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    return Promise.race([done, aborted])
  }
  t.intercept(threads, 'run', { value: run })
  t.teardown(() => Promise.all(tasks))
}
