import { once } from 'node:events'
import { createServer } from 'node:net'
import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import type { Contender } from './implementation.ts'
import { type ContenderName, type Listening, type Measured, ServerJob } from './jobs.ts'
import { oneString, plainLoop, socketIo } from './others.ts'
import { ours } from './ours.ts'

const contenders: { readonly [Name in ContenderName]: (sockets: number) => Promise<Contender> } = {
  ours,
  'plain loop': plainLoop,
  'one string': oneString,
  'socket.io': socketIo,
}

let contender: Contender | undefined
/** Frames that clients have reported since the measuring began. */
let frames = 0
let heard = (): void => {}

/** Each client process reports, in four bytes, how many frames came since it reported last. */
const reports = createServer((socket) => {
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (; rest.length >= 4; rest = rest.subarray(4)) frames += rest.readUInt32BE()
    heard()
  })
})

async function listen(name: ContenderName, sockets: number): Promise<Listening> {
  contender = await contenders[name](sockets)
  reports.listen(0, '127.0.0.1')
  await once(reports, 'listening')
  const address = reports.address()
  return {
    port: contender.port,
    reports: typeof address === 'object' && address !== null ? address.port : 0,
    tokens: [...contender.tokens],
  }
}

interface Measuring {
  readonly sockets: number
  readonly atOnce: number
  readonly underWay: number
  readonly ms: number
}

/** Tells events turn by turn, as long as no more are under way than that. */
async function measure({ sockets, atOnce, underWay, ms }: Measuring): Promise<Measured> {
  frames = 0
  let told = 0
  const began = performance.now()
  const cpu = process.cpuUsage()
  while (performance.now() - began < ms) {
    contender?.tell(atOnce)
    told += sockets * atOnce
    await new Promise((resolve) => setImmediate(resolve))
    while (told - frames > sockets * underWay) await report()
  }
  while (frames < told) await report()
  const { user, system } = process.cpuUsage(cpu)
  return { frames, seconds: (performance.now() - began) / 1000, cpuMicros: user + system }
}

const report = (): Promise<void> =>
  new Promise((resolve) => {
    heard = resolve
  })

function weigh(): { bytes: number } {
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
      return weigh()
  }
})
