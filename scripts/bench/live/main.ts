import { cpus } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { median } from '../../../test/harness/load/percentiles.ts'
import { HelperProcess } from '../../../test/harness/process/child-process-rpc.ts'
import { Connected, type ImplementationName, implementationNames, Listening, Measured, Memory } from './jobs.ts'
import { readLiveOptions } from './options.ts'

/** Sockets on loopback, in processes of their own. */
const SIZES = [500, 2_000]
const CLIENT_PROCESSES = 2
const MS = 500
/** Events that may be undelivered when the next ones are sent; enough to keep the servers busy. */
const MAX_UNDELIVERED = 40

/** A server that is measured, in a process of its own. */
interface Contender {
  readonly name: string
  readonly implementation: ImplementationName
  /** Of its checkout. */
  readonly root: URL
}

interface Runner {
  readonly name: string
  readonly server: HelperProcess
  /** Bytes of the server's memory for each idle socket. */
  readonly bytes: number
  /** An event at a time, after all sockets have the one before; one in each turn; ten in each turn. */
  readonly lone: Measured[]
  readonly single: Measured[]
  readonly ten: Measured[]
}

const { rounds, against } = readLiveOptions(process.argv)

const here = new URL('../../../', import.meta.url)
const contenders: readonly Contender[] =
  against === null
    ? implementationNames.map((name) => ({ name, implementation: name, root: here }))
    : [
        { name: 'this checkout', implementation: 'ours', root: here },
        { name: 'the other', implementation: 'ours', root: pathToFileURL(join(against, '/')) },
      ]

const environment = { NODE_OPTIONS: '--expose-gc --no-warnings' }

async function start(
  { name, implementation, root }: Contender,
  sockets: number,
  clients: readonly HelperProcess[],
): Promise<Runner> {
  const server = new HelperProcess(new URL('scripts/bench/live/server.ts', root), environment)
  const to = await server.call({ do: 'listen', contender: implementation, sockets }, Listening)
  const before = await server.call({ do: 'weigh' }, Memory)
  const share = Math.ceil(sockets / clients.length)
  await Promise.all(
    clients.map((client, i) =>
      client.call(
        { contender: implementation, to: { ...to, tokens: to.tokens.slice(i * share, (i + 1) * share) } },
        Connected,
      ),
    ),
  )
  const after = await server.call({ do: 'weigh' }, Memory)
  return { name, server, bytes: (after.bytes - before.bytes) / sockets, lone: [], single: [], ten: [] }
}

async function compare(sockets: number): Promise<Runner[]> {
  const clients = Array.from(
    { length: CLIENT_PROCESSES },
    () => new HelperProcess(new URL('./clients.ts', import.meta.url), environment),
  )
  const runners: Runner[] = []
  for (const contender of contenders) runners.push(await start(contender, sockets, clients))
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { server, lone, single, ten } of round % 2 === 0 ? runners : runners.toReversed()) {
      for (const [measured, atOnce, underWay] of [
        [lone, 1, 0],
        [single, 1, MAX_UNDELIVERED],
        [ten, 10, MAX_UNDELIVERED],
      ] as const) {
        const result = await server.call({ do: 'measure', sockets, atOnce, underWay, ms: MS }, Measured)
        if (round > 0) measured.push(result)
      }
    }
  }
  for (const { server } of runners) await server.stop()
  for (const client of clients) await client.stop()
  return runners
}

const rate = (all: readonly Measured[]): number => median(all.map(({ frames, seconds }) => frames / seconds))
/** The median of each round's ratio. */
const ratio = (ours: readonly Measured[], others: readonly Measured[]): string =>
  median(ours.map((mine, i) => rate([mine]) / rate(others.slice(i, i + 1)))).toFixed(2)
const cost = (all: readonly Measured[]): number => median(all.map(({ frames, cpuMicros }) => cpuMicros / frames))
const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

function printTable(sockets: number, runners: readonly Runner[]): void {
  const [ours] = runners
  if (ours === undefined) return
  console.log(
    `\n${whole(sockets)} sockets: time until the last one has a lone event; deliveries a second; CPU of the server for a delivery\n`,
  )
  console.log(
    '| | lone event, ms | single | ours is | ten in a turn | ours is | µs lone | µs single | µs ten | KiB an idle socket |',
  )
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
  for (const { name, lone, single, ten, bytes } of runners) {
    const costs = [lone, single, ten].map((all) => cost(all).toFixed(2)).join(' | ')
    const ms = (1_000 * sockets) / rate(lone)
    console.log(
      `| ${name} | ${ms.toFixed(1)} | ${whole(rate(single))} | ${ratio(ours.single, single)} | ${whole(rate(ten))} | ${ratio(ours.ten, ten)} | ${costs} | ${(bytes / 1024).toFixed(1)} |`,
    )
  }
}

console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}; frames of 400 bytes,`,
)
console.log(`${CLIENT_PROCESSES} processes of clients, ${rounds} rounds, medians, and medians of each round's ratios`)
for (const sockets of SIZES) printTable(sockets, await compare(sockets))
