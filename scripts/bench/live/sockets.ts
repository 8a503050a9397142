import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, Type } from '@sinclair/typebox'
import { clock } from '../../../test/harness/load/clock.ts'
import { HelperProcess, serve } from '../../../test/harness/process/child-process-rpc.ts'
import type { Bench } from '../bench.ts'
import type { Server } from '../servers.ts'
import { endings, RoomSocket } from './room-socket.ts'
import type { Seat } from './service.ts'

// Thousands of sockets in processes of their own.

const PROCESSES = 2
const AT_A_TIME = 25
const TIMEOUT_MS = 180_000
const LOWEST_PRIORITY = 19
const READ_INTERVAL_MS = 500
const TICK_MS = 10

const Job = Type.Union([
  Type.Object({
    do: Type.Literal('connect'),
    port: Type.Integer(),
    localAddress: Type.String(),
    seats: Type.Array(Type.Tuple([Type.Integer(), Type.Integer()])),
    /** Whether they are read twice a second only, by a process that gives way to all others: then they cost little. */
    isCheap: Type.Boolean(),
  }),
  /** Waits until all sockets are live again after `since`. */
  Type.Object({ do: Type.Literal('await-live'), since: Type.Number() }),
])
const Live = Type.Object({
  /** When each socket was live again, by `clock`. */
  liveAt: Type.Array(Type.Number()),
  missing: Type.Integer(),
  /** How often connections ended or were refused how, since the sockets were opened. */
  endings: Type.Array(Type.Tuple([Type.String(), Type.Integer()])),
})
type Live = Static<typeof Live>

/** Opens sockets; the result waits until all of them are live again after some time. */
export async function openSockets(
  { cleanUp }: Bench,
  { port }: Server,
  seats: readonly Seat[],
  { isCheap = false } = {},
): Promise<(since: number) => Promise<Live[]>> {
  const processes = Array.from({ length: PROCESSES }, () => new HelperProcess(new URL(import.meta.url), {}))
  for (const each of processes) cleanUp.defer(() => each.stop())
  await Promise.all(
    processes.map((each, i) => {
      const own = seats.filter((_, socket) => socket % PROCESSES === i)
      // Each address has a range of ports of its own.
      const job = { do: 'connect', port, localAddress: `127.0.0.${2 + i}`, seats: own, isCheap }
      return each.call(job, Type.Object({}))
    }),
  )
  return (since) => Promise.all(processes.map((each) => each.call({ do: 'await-live', since }, Live)))
}

const sockets: RoomSocket[] = []

async function until(isDone: () => boolean): Promise<boolean> {
  const began = clock()
  while (!isDone() && clock() - began < TIMEOUT_MS) await sleep(20)
  return isDone()
}

async function connect(job: Extract<Static<typeof Job>, { do: 'connect' }>): Promise<object> {
  for (let i = 0; i < job.seats.length; i += AT_A_TIME) {
    const opened = job.seats.slice(i, i + AT_A_TIME).map((seat) => new RoomSocket(job, seat))
    sockets.push(...opened)
    const areLive = await until(() => opened.every(({ liveAt }) => liveAt > 0))
    if (!areLive) throw new Error(`sockets are not subscribed: ${JSON.stringify([...endings])}`)
  }
  if (job.isCheap) readSeldom()
  return {}
}

function readSeldom(): void {
  setPriority(LOWEST_PRIORITY)
  for (const socket of sockets) socket.pause()
  const share = Math.ceil((sockets.length * TICK_MS) / READ_INTERVAL_MS)
  let reading: readonly RoomSocket[] = []
  let at = 0
  setInterval(() => {
    for (const socket of reading) socket.pause()
    reading = sockets.slice(at, at + share)
    for (const socket of reading) socket.resume()
    at = at + share < sockets.length ? at + share : 0
  }, TICK_MS)
}

async function awaitLive(since: number): Promise<Live> {
  const isBack = ({ liveAt }: RoomSocket): boolean => liveAt > since
  await until(() => sockets.every(isBack))
  const back = sockets.filter(isBack)
  return { liveAt: back.map(({ liveAt }) => liveAt), missing: sockets.length - back.length, endings: [...endings] }
}

if (import.meta.main) serve(Job, async (job) => (job.do === 'connect' ? connect(job) : awaitLive(job.since)))
