import { parentPort, workerData } from 'node:worker_threads'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { clock } from './clock.ts'

// A worker thread that posts a message when a request is due. A timer of the event loop can be a millisecond late, which
// is more than an answer takes; `Atomics.wait` is late by less than a tenth of that.

const Schedule = Type.Object({ perSecond: Type.Number(), count: Type.Integer() })

const { perSecond, count } = Value.Parse(Schedule, workerData)
const never = new Int32Array(new SharedArrayBuffer(4))
const begin = clock() + 10
for (let i = 0; i < count; i += 1) {
  const due = begin + (i * 1000) / perSecond
  const wait = due - clock()
  if (wait > 0) Atomics.wait(never, 0, 0, wait)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(due)
}
