import { parentPort, workerData } from 'node:worker_threads'
import type { Progress } from './job-rows.ts'
import { lowerThreadPriority } from './thread-priority.ts'
import type { ThreadData, ThreadMessage } from './threads.ts'

// The thread of `threads.run`.

/** Nice level: requests go first when processors are busy. */
const NICE = 10

lowerThreadPriority((nice) => Math.max(nice, NICE))

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: ThreadMessage<unknown>): void => parentPort?.postMessage(message)
const { module, work, task }: ThreadData = workerData
const exported: Readonly<Record<string, unknown>> = await import(module)
const run = exported[work]
if (typeof run !== 'function') throw new Error(`${module} exports no function ${work}`)
// Never aborted: the service terminates the thread instead.
const { signal } = new AbortController()
post({ type: 'result', result: await run(task, signal, (progress: Progress) => post({ type: 'progress', progress })) })
