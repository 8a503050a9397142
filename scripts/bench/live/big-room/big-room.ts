import { median } from '../../../../test/harness/load/percentiles.ts'
import { progress } from '../../bench.ts'
import { table, times } from '../../markdown.ts'
import { cpuOf, cpuOfCluster } from '../../profile/cpu.ts'
import {
  type Contender,
  defineLuckyGift,
  type LiveBench,
  type LiveServer,
  type Member,
} from '../service/live-service.ts'
import { listener } from '../service/requests.ts'
import { BIG_ROOM, Connected, Drained, FIRST_SMALL_ROOM, SOCKETS_OF_SMALL_ROOM, Turn } from './jobs.ts'

const SOCKETS = 5_000
const ROUNDS = 5
const EVENTS_PER_SECOND = 20
/** The p99 of others beside the big room, as a multiple of that when it is quiet. */
const MAX_RATIO = 2
/** A process of clients that is later than this measures itself. */
const MAX_LAG_MS = 10

interface Pair {
  readonly quiet: Turn
  readonly beside: Turn
  /** CPU seconds a second, beside the big room. */
  readonly cpu: { readonly service: number; readonly postgres: number; readonly drain: number }
  /** Bytes a second of a socket of the big room, of the socket with the fewest and with the most. */
  readonly drained: readonly [fewest: number, most: number]
}

interface Runner {
  readonly contender: Contender
  /** Quiet, then beside the events of the big room. */
  readonly measure: () => Promise<Pair>
}

/** Small rooms and REST beside a big room with many events, compared with the same when the big room is quiet. */
export async function measureBigRoom(bench: LiveBench): Promise<string> {
  const { options, contenders } = bench
  const sockets = options.sockets ?? SOCKETS
  const rounds = options.rounds ?? ROUNDS
  const runners: Runner[] = []
  for (const contender of contenders) runners.push(await open(bench, contender, sockets))
  const results = new Map(runners.map(({ contender }) => [contender.name, [] as Pair[]]))
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { contender, measure } of round % 2 === 0 ? runners : runners.toReversed()) {
      const pair = await measure()
      const { quiet, beside } = pair
      progress(
        `big room, round ${round}, ${contender.name}: p99 of frames ${quiet.frame.p99.toFixed(0)} to ${beside.frame.p99.toFixed(0)} ms, of gifts ${quiet.gift.p99.toFixed(0)} to ${beside.gift.p99.toFixed(0)} ms`,
      )
      if (round > 0) results.get(contender.name)?.push(pair)
    }
  }
  const length = `Rounds: ${rounds} of ${options.seconds} s quiet and ${options.seconds} s beside; medians, and medians of each round's ratios`
  return [
    `## ${sockets.toLocaleString('en-US')} sockets in a room with ${EVENTS_PER_SECOND} events a second, beside ${options.smallRooms} rooms of ${SOCKETS_OF_SMALL_ROOM}`,
    '',
    length,
    ...[...results].flatMap(([name, pairs]) => ['', `**${name}**`, '', ...reportOf(pairs)]),
  ].join('\n')
}

async function open(bench: LiveBench, contender: Contender, sockets: number): Promise<Runner> {
  const { options, cluster } = bench
  const server = await bench.start(await bench.seeded(contender, membersOf(sockets, options.smallRooms)), contender)
  progress(`opening ${sockets} sockets to ${contender.name}`)
  await defineLuckyGift(server.port)
  const drain = bench.clients(new URL('./drain.ts', import.meta.url))
  const meter = bench.clients(new URL('./meter.ts', import.meta.url))
  await drain.call({ do: 'connect', port: server.livePort, sockets: sockets - 1 }, Connected)
  await meter.call({ do: 'connect', port: server.livePort, firstSocket: sockets, rooms: options.smallRooms }, Connected)
  const measure = (bigPerSecond: number): Promise<Turn> =>
    meter.call(
      { do: 'measure', port: server.port, rooms: options.smallRooms, seconds: options.seconds, bigPerSecond },
      Turn,
    )
  return {
    contender,
    measure: async () => {
      const quiet = await measure(0)
      const before = { drained: await drain.call({ do: 'count' }, Drained), cpu: cpuNow(server), at: performance.now() }
      const beside = await measure(EVENTS_PER_SECOND)
      const seconds = (performance.now() - before.at) / 1_000
      const after = cpuNow(server)
      const drained = await drain.call({ do: 'count' }, Drained)
      if (drained.closed > 0) throw new Error(`${drained.closed} sockets of the big room were closed`)
      const share = (field: keyof typeof after): number => (after[field] - before.cpu[field]) / 1e6 / seconds
      return {
        quiet,
        beside,
        cpu: { service: share('service'), postgres: share('postgres'), drain: share('drain') },
        drained: [
          (drained.fewest - before.drained.fewest) / seconds,
          (drained.most - before.drained.most) / seconds,
        ] as const,
      }
    },
  }

  function cpuNow({ pid }: LiveServer) {
    return { service: cpuOf(pid), postgres: cpuOfCluster(cluster.postmaster), drain: cpuOf(drain.pid) }
  }
}

function* membersOf(sockets: number, smallRooms: number): Generator<Member> {
  for (let i = 0; i < sockets; i += 1) yield [listener(i), BIG_ROOM]
  for (let i = 0; i < smallRooms * SOCKETS_OF_SMALL_ROOM; i += 1)
    yield [listener(sockets + i), FIRST_SMALL_ROOM + Math.floor(i / SOCKETS_OF_SMALL_ROOM)]
}

const measures = [
  ['frame in a small room, each socket', 'frame'],
  ['frame in a small room, its last socket', 'lastFrame'],
  ['gift', 'gift'],
  ['wallet', 'wallet'],
] as const

function reportOf(pairs: readonly Pair[]): string[] {
  const rows = measures.flatMap(([name, field]) =>
    (['p50', 'p99'] as const).map((percent) => {
      const of = (turn: Turn): number => turn[field][percent]
      const ratio = median(pairs.map(({ quiet, beside }) => of(beside) / of(quiet)))
      return [
        `${name}, ${percent}`,
        median(pairs.map(({ quiet }) => of(quiet))).toFixed(1),
        median(pairs.map(({ beside }) => of(beside))).toFixed(1),
        times(ratio),
        percent === 'p50' ? '' : ratio <= MAX_RATIO ? 'met' : 'missed',
      ]
    }),
  )
  const turns = pairs.flatMap(({ quiet, beside }) => [quiet, beside])
  const sum = (field: 'missing' | 'failed'): number => turns.reduce((total, turn) => total + turn[field], 0)
  const medianOf = (read: (pair: Pair) => number): number => median(pairs.map(read))
  const share = (read: (pair: Pair) => number): string => `${(medianOf(read) * 100).toFixed(0)}%`
  const lag = medianOf(({ beside }) => beside.load.lagP99)
  const last = pairs.map(({ beside }) => beside.bigFrame).filter((frame) => frame !== null)
  return [
    ...table(['ms', 'quiet', 'beside', 'ratio', `at most ${MAX_RATIO} times`], rows),
    '',
    `- The big room's last socket: p50 ${median(last.map(({ p50 }) => p50)).toFixed(0)} ms, p99 ${median(last.map(({ p99 }) => p99)).toFixed(0)} ms; ${medianOf(({ drained }) => drained[0]).toFixed(0)} to ${medianOf(({ drained }) => drained[1]).toFixed(0)} bytes a second on each socket`,
    `- CPU of one core, beside: service ${share(({ cpu }) => cpu.service)}, PostgreSQL ${share(({ cpu }) => cpu.postgres)}, sockets of the big room ${share(({ cpu }) => cpu.drain)}, the measuring process ${share(({ beside }) => beside.load.cpu)}`,
    `- The measuring process was late by ${medianOf(({ quiet }) => quiet.load.lagP99).toFixed(1)} ms (p99) when quiet and ${lag.toFixed(1)} ms beside${lag > MAX_LAG_MS ? ': **it is itself a part of the figures**' : ''}`,
    `- Missing frames ${sum('missing')}, faults ${turns.at(-1)?.faults ?? 0}, failed requests ${sum('failed')}`,
  ]
}
