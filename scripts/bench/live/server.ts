import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Static, Type } from '@sinclair/typebox'
import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import type { Listening } from './clients.ts'
import { type Implementation, ours } from './ours.ts'
import { ws } from './ws.ts'

/**
 * Requests to a server process of the fan-out, and their answers. `--against` sends them to another checkout, too, so their
 * fields stay as they are.
 */
const ServerJob = Type.Union([
  Type.Object({ do: Type.Literal('listen'), contender: Type.String(), sockets: Type.Integer() }),
  Type.Object({
    do: Type.Literal('measure'),
    sockets: Type.Integer(),
    /** Events sent in one turn, and how many may be undelivered when the next ones are sent. */
    atOnce: Type.Integer(),
    underWay: Type.Integer(),
    ms: Type.Number(),
  }),
])
/** Frames that reached clients, with the time and the server's CPU time that this took. */
export const Measured = Type.Object({ frames: Type.Integer(), seconds: Type.Number(), cpuMicros: Type.Number() })
export type Measured = Static<typeof Measured>

/** What sends events to all its sockets. */
export const implementations = new Map(Object.entries({ ours, ws }))

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

async function listen(name: string, sockets: number): Promise<Listening> {
  implementation = await implementations.get(name)?.(sockets)
  if (implementation === undefined) throw new Error(`there is no ${name}`)
  reports.listen(0, '127.0.0.1')
  await once(reports, 'listening')
  const address = reports.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { port: implementation.port, reports: port, tokens: [...implementation.tokens] }
}

const nextReport = (): Promise<void> =>
  new Promise((resolve) => {
    onReport = resolve
  })

/** Sends events turn by turn, while no more than `underWay` of them are undelivered. */
async function measure(job: Extract<Static<typeof ServerJob>, { do: 'measure' }>): Promise<Measured> {
  const { sockets, atOnce, underWay, ms } = job
  frames = 0
  let published = 0
  const began = performance.now()
  const cpu = process.cpuUsage()
  while (performance.now() - began < ms) {
    implementation?.publish(atOnce)
    published += sockets * atOnce
    await new Promise((resolve) => setImmediate(resolve))
    while (published - frames > sockets * underWay) await nextReport()
  }
  while (frames < published) await nextReport()
  const { user, system } = process.cpuUsage(cpu)
  return { frames, seconds: (performance.now() - began) / 1000, cpuMicros: user + system }
}

if (import.meta.main)
  serve(ServerJob, async (job) => (job.do === 'listen' ? listen(job.contender, job.sockets) : measure(job)))
