import { setTimeout as sleep } from 'node:timers/promises'
import type { Static } from '@sinclair/typebox'
import { clock } from '../../../../test/harness/load/clock.ts'
import { percentile } from '../../../../test/harness/load/percentiles.ts'
import { serve } from '../../../../test/harness/process/child-process-rpc.ts'
import { CountingClient } from '../../../../test/harness/websocket/counting-client.ts'
import { type Call, PacedCalls } from '../service/paced-calls.ts'
import { measureProcess } from '../service/process-load.ts'
import { giftIn, listener, positionIn, quietRoom, roomUid, tokenOf, walletOfAny } from '../service/requests.ts'
import { BIG_ROOM, FIRST_SMALL_ROOM, MeterJob, SOCKETS_OF_SMALL_ROOM, type Turn } from './jobs.ts'

/** Gifts in quiet rooms, and wallets, a second. */
const REST_PER_SECOND = 40
/** Gifts in the small rooms together. */
const SMALL_PER_SECOND = 10
/** The start of a turn, when its connections are new. */
const UNMEASURED_MS = 1_000
/** How long the last frames may take. */
const TIMEOUT_MS = 10_000
const AT_A_TIME = 50

const clients: CountingClient[] = []
/** Arrivals of each position at the sockets of its room. */
let arrivals = new Map<number, number[]>()
/** When gifts were answered, by position: in small rooms, and in the big one. */
let small = new Map<number, number>()
let big = new Map<number, number>()

function onEvent(position: number): void {
  const at = clock()
  const before = arrivals.get(position)
  if (before === undefined) arrivals.set(position, [at])
  else before.push(at)
}

async function connect({ port, firstSocket, rooms }: Extract<Static<typeof MeterJob>, { do: 'connect' }>) {
  const seats = Array.from({ length: rooms * SOCKETS_OF_SMALL_ROOM }, (_, i) => ({
    user: listener(firstSocket + i),
    room: FIRST_SMALL_ROOM + Math.floor(i / SOCKETS_OF_SMALL_ROOM),
  }))
  // One more of the big room, which gets its frames after all others.
  seats.push({ user: listener(firstSocket - 1), room: BIG_ROOM })
  for (let i = 0; i < seats.length; i += AT_A_TIME) {
    const opened = seats
      .slice(i, i + AT_A_TIME)
      .map(({ user, room }) => new CountingClient(port, tokenOf(user), roomUid(room), onEvent))
    await Promise.all(opened.map(({ ready }) => ready))
    clients.push(...opened)
  }
  return {}
}

async function measure({ port, rooms, seconds, bigPerSecond }: Extract<Static<typeof MeterJob>, { do: 'measure' }>) {
  arrivals = new Map()
  small = new Map()
  big = new Map()
  let next = 0
  const nextSmall = (): Buffer => giftIn(FIRST_SMALL_ROOM + (next++ % rooms))
  const at = { port: () => port, perSecond: REST_PER_SECOND }
  const gifts = new PacedCalls({ ...at, next: () => giftIn(quietRoom()) })
  const wallets = new PacedCalls({ ...at, next: walletOfAny })
  const load = [
    gifts,
    wallets,
    new PacedCalls({
      ...at,
      perSecond: SMALL_PER_SECOND,
      next: nextSmall,
      onAnswer: ({ text }, answeredAt) => small.set(positionIn(text), answeredAt),
    }),
    ...(bigPerSecond === 0
      ? []
      : [
          new PacedCalls({
            ...at,
            perSecond: bigPerSecond,
            next: () => giftIn(BIG_ROOM),
            onAnswer: ({ text }, answeredAt) => big.set(positionIn(text), answeredAt),
          }),
        ]),
  ]
  for (const calls of load) calls.start()
  await sleep(UNMEASURED_MS)
  const from = clock()
  const readLoad = measureProcess()
  await sleep(seconds * 1_000)
  const processLoad = readLoad()
  await Promise.all(load.map((calls) => calls.stop()))
  await lastFrames()
  const measured = [...small].filter(([, at]) => at >= from)
  const frames = measured.map(([position, at]) => (arrivals.get(position) ?? []).map((arrival) => arrival - at))
  const all = [...gifts.calls, ...wallets.calls]
  const bigFrames = [...big].filter(([, at]) => at >= from).map(([position, at]) => lastOf(position) - at)
  return {
    frame: latency(frames.flat()),
    lastFrame: latency(frames.map((one) => one.reduce((max, ms) => Math.max(max, ms), 0))),
    gift: latency(answered(gifts.calls, from)),
    wallet: latency(answered(wallets.calls, from)),
    bigFrame: bigFrames.length === 0 ? null : latency(bigFrames),
    missing: measured.length * SOCKETS_OF_SMALL_ROOM - frames.flat().length,
    faults: clients.reduce((sum, { received, isOver }) => sum + received.faults + (isOver ? 1 : 0), 0),
    failed: all.filter(({ outcome }) => outcome !== 200).length,
    load: processLoad,
  } satisfies Turn
}

async function lastFrames(): Promise<void> {
  const until = clock() + TIMEOUT_MS
  const haveAll = (): boolean =>
    [...small.keys()].every((position) => arrivals.get(position)?.length === SOCKETS_OF_SMALL_ROOM) &&
    [...big.keys()].every((position) => arrivals.has(position))
  while (!haveAll() && clock() < until) await sleep(20)
}

const lastOf = (position: number): number => arrivals.get(position)?.at(-1) ?? Number.POSITIVE_INFINITY
const answered = (calls: readonly Call[], from: number): number[] =>
  calls.filter(({ due, outcome }) => due >= from && outcome === 200).map(({ ms }) => ms)

/** Frames may be read before the answer that was sent first. */
function latency(values: readonly number[]): { p50: number; p99: number } {
  const sorted = values.map((ms) => Math.max(0, ms)).toSorted((a, b) => a - b)
  return { p50: percentile(sorted, 50), p99: percentile(sorted, 99) }
}

serve(MeterJob, async (job) => (job.do === 'connect' ? connect(job) : measure(job)))
