import { once } from 'node:events'
import { createServer } from 'node:net'
import { clock } from '../../../test/harness/load/clock.ts'
import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import type { Implementation } from './implementation.ts'
import { type ImplementationName, type Listening, type Measured, ServerJob } from './jobs.ts'
import { oneString, plainLoop, socketIo } from './others.ts'
import { ours } from './ours.ts'

const implementations: { readonly [Name in ImplementationName]: (sockets: number) => Promise<Implementation> } = {
  ours,
  'plain loop': plainLoop,
  'one string': oneString,
  'socket.io': socketIo,
}

let implementation: Implementation | undefined
/** Frames that clients have reported since the measurement began. */
let frames = 0
let onReport = (): void => {}

/** Client processes report here, in four bytes, how many frames they received since their last report. */
const reports = createServer((socket) => {
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (; rest.length >= 4; rest = rest.subarray(4)) frames += rest.readUInt32BE()
    onReport()
  })
})

async function listen(name: ImplementationName, sockets: number): Promise<Listening> {
  implementation = await implementations[name](sockets)
  reports.listen(0, '127.0.0.1')
  await once(reports, 'listening')
  const address = reports.address()
  return {
    port: implementation.port,
    reports: typeof address === 'object' && address !== null ? address.port : 0,
    tokens: [...implementation.tokens],
  }
}

interface Measurement {
  readonly sockets: number
  readonly atOnce: number
  readonly underWay: number
  readonly ms: number
}

/** Sends events turn by turn, while no more than `underWay` of them are undelivered. */
async function measure({ sockets, atOnce, underWay, ms }: Measurement): Promise<Measured> {
  frames = 0
  let published = 0
  const began = performance.now()
  const startedAt = clock()
  const cpu = process.cpuUsage()
  while (performance.now() - began < ms) {
    implementation?.publish(atOnce)
    published += sockets * atOnce
    await new Promise((resolve) => setImmediate(resolve))
    while (published - frames > sockets * underWay) await nextReport()
  }
  while (frames < published) await nextReport()
  const { user, system } = process.cpuUsage(cpu)
  return { frames, seconds: (performance.now() - began) / 1000, cpuMicros: user + system, startedAt }
}

const nextReport = (): Promise<void> =>
  new Promise((resolve) => {
    onReport = resolve
  })

function measureMemory(): { bytes: number } {
  globalThis.gc?.()
  return { bytes: process.memoryUsage().rss }
}

serve(ServerJob, async (job) => {
  switch (job.do) {
    case 'listen':
      return listen(job.contender, job.sockets)
    case 'measure':
      return measure(job)
    case 'weigh':
      return measureMemory()
  }
})
