import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '../../../test/harness/load/clock.ts'
import { percentile } from '../../../test/harness/load/percentiles.ts'
import type { Bench, Checkout } from '../bench.ts'
import { type Contender, compared, progress, type Turn, takeTurns } from '../rounds.ts'
import { between, ROOMS, tokenOf } from '../workload.ts'
import { PacedCalls } from './paced-calls.ts'
import { anyWallet, BIG_ROOM, giftIn, listener, type Seat, SOCKETS_OF_SMALL_ROOM, startWith } from './service.ts'
import { openSockets } from './sockets.ts'
import { subscribeAll } from './subscribe.ts'

const SMALL_ROOMS = 20
const FIRST_QUIET_ROOM = 501
/** Gifts in the big room, in the small ones together, and in rooms without sockets, and wallets. */
const PER_SECOND = { big: 20, small: 10, quiet: 40, wallets: 40 }
/** The start of a turn, when its connections are new. */
const UNMEASURED_MS = 1_000
/** How long the last frames may take. */
const TIMEOUT_MS = 10_000
const RESOLUTION_MS = 5

/** Small rooms and REST alongside a big room with many events, compared with the same when the big room is quiet. */
export async function measureBigRoom(bench: Bench): Promise<string> {
  const sockets = bench.size(5_000, 400)
  const contenders: Contender[] = []
  for (const checkout of bench.checkouts) contenders.push(await open(bench, checkout, sockets))
  // The first turns warm up.
  await takeTurns(1, contenders)
  return compared(`beside a room of ${sockets} sockets`, await takeTurns(bench.rounds(5), contenders))
}

async function open(bench: Bench, checkout: Checkout, sockets: number): Promise<Contender> {
  const big = Array.from({ length: sockets }, (_, i): Seat => [listener(i), BIG_ROOM])
  const inSmall = (i: number): Seat => [listener(sockets + i), BIG_ROOM + 1 + Math.floor(i / SOCKETS_OF_SMALL_ROOM)]
  const small = Array.from({ length: SMALL_ROOMS * SOCKETS_OF_SMALL_ROOM }, (_, i) => inSmall(i))
  const { server } = await startWith(bench, checkout, 'big_room', [...big, ...small])
  progress(`opening ${big.length + small.length} sockets`)
  await openSockets(bench, server, big, { isCheap: true })
  /** Arrivals of each position at the sockets of its room. */
  const arrivals = new Map<number, number[]>()
  const { port } = server
  const subscriptions = small.map(([user, room]) => ({ port, token: tokenOf(user), room: `r${room}` }))
  const clients = await subscribeAll(subscriptions, (text) => {
    const position = Number(/"position":"(\d+)"/.exec(text)?.[1])
    arrivals.set(position, [...(arrivals.get(position) ?? []), clock()])
  })
  bench.cleanUp.defer(async () => clients.forEach((client) => client.destroy()))

  async function measure(isBigRoomQuiet: boolean) {
    arrivals.clear()
    /** When gifts in the small rooms were answered, by position. */
    const answered = new Map<number, number>()
    const pace = (perSecond: number, next: () => Buffer) => ({ port: server.port, perSecond, next })
    const gifts = new PacedCalls(pace(PER_SECOND.quiet, () => giftIn(between(FIRST_QUIET_ROOM, ROOMS))))
    const wallets = new PacedCalls(pace(PER_SECOND.wallets, anyWallet))
    const small = new PacedCalls({
      ...pace(PER_SECOND.small, () => giftIn(BIG_ROOM + between(1, SMALL_ROOMS))),
      onAnswer: (text, at) => answered.set(Number(/"order_id":"(\d+)/.exec(text)?.[1]), at),
    })
    const big = isBigRoomQuiet ? [] : [new PacedCalls(pace(PER_SECOND.big, () => giftIn(BIG_ROOM)))]
    await sleep(UNMEASURED_MS)
    const from = clock()
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    delay.enable()
    await sleep(bench.seconds(10) * 1_000)
    delay.disable()
    await Promise.all([gifts, wallets, small, ...big].map((calls) => calls.stop()))
    const isMissing = (position: number): boolean => arrivals.get(position)?.length !== SOCKETS_OF_SMALL_ROOM
    const until = clock() + TIMEOUT_MS
    while ([...answered.keys()].some(isMissing) && clock() < until) await sleep(20)
    const measured = [...answered].filter(([, at]) => at >= from)
    const frames = measured.flatMap(([position, at]) => (arrivals.get(position) ?? []).map((arrival) => arrival - at))
    const sorted = frames.sort((a, b) => a - b)
    return {
      frame: percentile(sorted, 99),
      gift: gifts.latencies(from).p99,
      wallet: wallets.latencies(from).p99,
      missing: [...answered.keys()].filter(isMissing).length,
      late: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    }
  }

  return {
    name: checkout.name,
    async turn(): Promise<Turn> {
      const quiet = await measure(true)
      const beside = await measure(false)
      const figures = (['frame', 'gift', 'wallet'] as const).flatMap((what) => [
        [`${what}, p99 ms, quiet`, quiet[what]] as const,
        [`${what}, p99 ms, beside`, beside[what]] as const,
        [`${what}, beside / quiet`, beside[what] / quiet[what]] as const,
      ])
      return {
        ...Object.fromEntries(figures),
        'events that some socket lacks': quiet.missing + beside.missing,
        'this process was late by, p99 ms': beside.late,
      }
    },
  }
}
