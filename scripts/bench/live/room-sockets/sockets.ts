import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '../../../../test/harness/load/clock.ts'
import { serve } from '../../../../test/harness/process/child-process-rpc.ts'
import { measureProcess } from '../service/process-load.ts'
import { roomUid, tokenOf } from '../service/requests.ts'
import { type RoomEvents, SocketsJob } from './jobs.ts'
import { counts, type Destination, RoomSocket, unexpected } from './room-socket.ts'

// A process with thousands of sockets, each in one room.

const AT_A_TIME = 25
const TIMEOUT_MS = 60_000

const sockets: RoomSocket[] = []
let destination: Destination = { port: 0, localAddress: '127.0.0.1', takesBatches: true }
let readLoad = measureProcess()

async function connect(seats: readonly (readonly [user: number, room: number])[]): Promise<object> {
  for (let i = 0; i < seats.length; i += AT_A_TIME) {
    const opened = seats
      .slice(i, i + AT_A_TIME)
      .map(([user, room]) => new RoomSocket(() => destination, tokenOf(user), roomUid(room)))
    sockets.push(...opened)
    const areLive = (): boolean => opened.every(({ isLive }) => isLive)
    await until(areLive, TIMEOUT_MS)
    if (!areLive()) throw new Error(`sockets are not subscribed: ${JSON.stringify([...unexpected])}`)
  }
  return {}
}

async function awaitLive(since: number, timeoutMs: number) {
  const isBack = ({ isLive, liveAt }: RoomSocket): boolean => isLive && liveAt > since
  await until(() => sockets.every(isBack), timeoutMs)
  const back = sockets.filter(isBack)
  const { refused, timedOut, busy, sentAway, retried } = counts
  return {
    readyAt: back.map(({ readyAt }) => readyAt),
    liveAt: back.map(({ liveAt }) => liveAt),
    missing: sockets.length - back.length,
    refused,
    timedOut,
    busy,
    sentAway,
    retried,
    load: readLoad(),
  }
}

async function compare(rooms: readonly RoomEvents[]) {
  const expected = new Map(rooms.map((room) => [room.uid, room]))
  const none = { events: 0, last: 0, sum: 0 }
  const lacks = ({ cursor }: RoomSocket): boolean => cursor.received.last < (expected.get(cursor.uid) ?? none).last
  await until(() => !sockets.some(lacks), TIMEOUT_MS)
  const different = sockets.filter(({ cursor: { uid, received } }) => {
    const { events, last, sum } = expected.get(uid) ?? none
    return received.events !== events || received.last !== last || received.sum !== sum
  })
  return {
    different: different.length,
    faults: sockets.reduce((sum, { cursor }) => sum + cursor.faults, 0),
    unexpected: [...unexpected],
    notResumed: counts.notResumed,
  }
}

async function until(done: () => boolean, timeoutMs: number): Promise<void> {
  const since = clock()
  while (!done() && clock() - since < timeoutMs) await sleep(20)
}

serve(SocketsJob, async (job) => {
  switch (job.do) {
    case 'connect':
      destination = job
      return connect(job.seats)
    case 'watch':
      destination = { ...destination, port: job.port }
      Object.assign(counts, { refused: 0, timedOut: 0, busy: 0, sentAway: 0, retried: 0 })
      readLoad = measureProcess()
      return {}
    case 'await-live':
      return awaitLive(job.since, job.timeoutMs)
    case 'compare':
      return compare(job.rooms)
  }
})
