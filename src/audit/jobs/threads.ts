import { Worker } from 'node:worker_threads'
import type { Progress } from './job-rows.ts'

/** The part of a job that reads many events: its task can be sent to a thread. */
export type ThreadWork<Task, Result> = (
  task: Task,
  signal: AbortSignal,
  progress: (progress: Progress) => void,
) => Promise<Result>

/** What a thread is told, and what it says. */
export interface ThreadData {
  /** The module that exports the work. */
  readonly module: string
  readonly work: string
  readonly task: unknown
}
export type ThreadMessage<Result> =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'result'; readonly result: Result }

export const threads = {
  /**
   * Runs what `module` exports as `work`, each time in a thread of its own, so that no request waits for it. Rejects with
   * what it threw. Terminates the thread when `signal` is aborted, and rejects once it has ended, as until then it may
   * still write files.
   */
  async run<Task, Result>(
    module: string,
    work: ThreadWork<Task, Result>,
    task: Task,
    signal: AbortSignal,
    progress: (progress: Progress) => void,
  ): Promise<Result> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const workerData: ThreadData = { module, work: work.name, task }
      const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData })
      const abort = (): void => {
        const reason = signal.reason instanceof Error ? signal.reason : new Error('the job was aborted')
        void worker.terminate().finally(() => reject(reason))
      }
      signal.addEventListener('abort', abort, { once: true })
      worker.on('message', (message: ThreadMessage<Result>) => {
        if (message.type === 'progress') progress(message.progress)
        else resolve(message.result)
      })
      worker.on('error', reject)
      worker.on('exit', () => {
        signal.removeEventListener('abort', abort)
        if (!signal.aborted) reject(new Error('the thread of a job ended before it was done'))
      })
    })
  },
}
