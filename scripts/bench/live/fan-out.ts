import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { median } from '../../../test/harness/load/percentiles.ts'
import { HelperProcess } from '../../../test/harness/process/child-process-rpc.ts'
import { progress } from '../bench.ts'
import { table, whole } from '../markdown.ts'
import {
  Arrivals,
  Connected,
  type ImplementationName,
  implementationNames,
  Listening,
  Measured,
  Memory,
} from './jobs.ts'
import type { LiveOptions } from './options.ts'

/** Sockets on loopback, in processes of their own. */
const SIZES = [500, 2_000]
const CLIENT_PROCESSES = 2
const ROUNDS = 5
const MS = 500
/** Events that may be undelivered when the next ones are sent; enough to keep the servers busy. */
const MAX_UNDELIVERED = 40
/** Lone events of a round, and the rest before each: longer than any pause between two flushes. */
const LONE_EVENTS = 5
const REST_MS = 100

/** A server that is measured, in a process of its own. */
interface Contender {
  readonly name: string
  readonly implementation: ImplementationName
  /** Of its checkout. */
  readonly root: URL
}

/** Milliseconds until the first and the last socket had an event; null with a server of an older checkout. */
interface LoneEvent {
  readonly first: number | null
  readonly last: number
  readonly measured: Measured
}

interface Runner {
  readonly name: string
  readonly server: HelperProcess
  readonly clients: readonly HelperProcess[]
  /** Bytes of the server's memory for each idle socket. */
  readonly bytes: number
  /** An event after a rest; one in each turn; ten in each turn. */
  readonly lone: LoneEvent[]
  readonly single: Measured[]
  readonly burst: Measured[]
}

const here = new URL('../../../', import.meta.url)
const contendersOf = (against: string | null): readonly Contender[] =>
  against === null
    ? implementationNames.map((name) => ({ name, implementation: name, root: here }))
    : [
        { name: 'this checkout', implementation: 'ours', root: here },
        { name: 'the other', implementation: 'ours', root: pathToFileURL(join(against, '/')) },
      ]

const environment = { NODE_OPTIONS: '--expose-gc --no-warnings' }

/** Fan-out to sockets, compared with other implementations or with another checkout. */
export async function measureFanOut(options: LiveOptions, cleanUp: AsyncDisposableStack): Promise<string> {
  const rounds = options.rounds ?? ROUNDS
  const lines: string[] = [
    '## Fan-out',
    '',
    `Frames of 400 bytes, ${CLIENT_PROCESSES} processes of clients, ${rounds} rounds, medians, and medians of each round's ratios`,
  ]
  for (const sockets of SIZES) {
    progress(`fan-out to ${sockets} sockets`)
    lines.push('', ...tableOf(sockets, await compare(sockets, rounds, contendersOf(options.against), cleanUp)))
  }
  return lines.join('\n')
}

function startProcess(file: URL, cleanUp: AsyncDisposableStack): HelperProcess {
  const helper = new HelperProcess(file, environment)
  cleanUp.defer(() => helper.stop())
  return helper
}

async function compare(
  sockets: number,
  rounds: number,
  contenders: readonly Contender[],
  cleanUp: AsyncDisposableStack,
): Promise<Runner[]> {
  const clients = Array.from({ length: CLIENT_PROCESSES }, () =>
    startProcess(new URL('./clients.ts', import.meta.url), cleanUp),
  )
  const runners: Runner[] = []
  for (const contender of contenders) {
    const server = startProcess(new URL('scripts/bench/live/server.ts', contender.root), cleanUp)
    runners.push(await open(contender, sockets, server, clients))
  }
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { server, clients, lone, single, burst } of round % 2 === 0 ? runners : runners.toReversed()) {
      for (let i = 0; i < LONE_EVENTS; i += 1) {
        const event = await measureLone(server, clients, sockets)
        if (round > 0) lone.push(event)
      }
      for (const [results, atOnce] of [[single, 1] as const, [burst, 10] as const]) {
        const job = { do: 'measure', sockets, atOnce, underWay: MAX_UNDELIVERED, ms: MS }
        const result = await server.call(job, Measured)
        if (round > 0) results.push(result)
      }
    }
  }
  for (const { server } of runners) await server.stop()
  for (const client of clients) await client.stop()
  return runners
}

async function open(
  { name, implementation }: Contender,
  sockets: number,
  server: HelperProcess,
  clients: readonly HelperProcess[],
): Promise<Runner> {
  const to = await server.call({ do: 'listen', contender: implementation, sockets }, Listening)
  const before = await server.call({ do: 'weigh' }, Memory)
  const share = Math.ceil(sockets / clients.length)
  await Promise.all(
    clients.map((client, i) =>
      client.call(
        {
          do: 'connect',
          contender: implementation,
          to: { ...to, tokens: to.tokens.slice(i * share, (i + 1) * share) },
        },
        Connected,
      ),
    ),
  )
  const after = await server.call({ do: 'weigh' }, Memory)
  return { name, server, clients, bytes: (after.bytes - before.bytes) / sockets, lone: [], single: [], burst: [] }
}

/** Sends one event after a rest. */
async function measureLone(
  server: HelperProcess,
  clients: readonly HelperProcess[],
  sockets: number,
): Promise<LoneEvent> {
  await sleep(REST_MS)
  const takeArrivals = () => Promise.all(clients.map((client) => client.call({ do: 'arrivals' }, Arrivals)))
  await takeArrivals()
  const measured = await server.call({ do: 'measure', sockets, atOnce: 1, underWay: 0, ms: 1 }, Measured)
  const arrivals = await takeArrivals()
  const { startedAt } = measured
  if (startedAt === undefined) return { first: null, last: measured.seconds * 1_000, measured }
  return {
    first: Math.min(...arrivals.map(({ first }) => first)) - startedAt,
    last: Math.max(...arrivals.map(({ last }) => last)) - startedAt,
    measured,
  }
}

const rate = (all: readonly Measured[]): number => median(all.map(({ frames, seconds }) => frames / seconds))
/** The median of each round's ratio. */
const ratio = (ours: readonly Measured[], others: readonly Measured[]): string =>
  median(ours.map((mine, i) => rate([mine]) / rate(others.slice(i, i + 1)))).toFixed(2)
const cost = (all: readonly Measured[]): string =>
  median(all.map(({ frames, cpuMicros }) => cpuMicros / frames)).toFixed(2)

function tableOf(sockets: number, runners: readonly Runner[]): string[] {
  const [ours] = runners
  if (ours === undefined) return []
  const rows = runners.map(({ name, lone, single, burst, bytes }) => {
    const firsts = lone.map(({ first }) => first).filter((first) => first !== null)
    return [
      name,
      firsts.length === 0 ? '–' : median(firsts).toFixed(1),
      median(lone.map(({ last }) => last)).toFixed(1),
      whole(rate(single)),
      ratio(ours.single, single),
      whole(rate(burst)),
      ratio(ours.burst, burst),
      cost(lone.map(({ measured }) => measured)),
      cost(single),
      cost(burst),
      (bytes / 1024).toFixed(1),
    ]
  })
  return [
    `${whole(sockets)} sockets: milliseconds until the first and the last one have a lone event; deliveries a second of single events and of bursts of ten; CPU of the server for a delivery`,
    '',
    ...table(
      [
        '',
        'lone, first',
        'lone, last',
        'single',
        'ours is',
        'bursts',
        'ours is',
        'µs lone',
        'µs single',
        'µs bursts',
        'KiB an idle socket',
      ],
      rows,
    ),
  ]
}
