import { parentPort, workerData } from 'node:worker_threads'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { clock } from './clock.ts'

// A thread that does nothing but tell when a request is due. A timer of the event loop would be up to a millisecond
// late, which is more than an answer takes; waiting on memory is late by less than a tenth of that.

const Pace = Type.Object({ perSecond: Type.Number(), count: Type.Integer() })

const { perSecond, count } = Value.Parse(Pace, workerData)
const never = new Int32Array(new SharedArrayBuffer(4))
const begin = clock() + 10
for (let i = 0; i < count; i += 1) {
  const due = begin + (i * 1000) / perSecond
  const wait = due - clock()
  if (wait > 0) Atomics.wait(never, 0, 0, wait)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(due)
}
