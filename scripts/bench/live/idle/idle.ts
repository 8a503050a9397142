import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { progress } from '../../bench.ts'
import { type Line, table, whole } from '../../markdown.ts'
import { RoomPopulation } from '../room-sockets/population.ts'
import { type Contender, type LiveBench, type LiveServer } from '../service/live-service.ts'

const SOCKETS = 10_000
const MAX_KIB = 8
/** Opened and closed before: what is loaded and compiled for the first ones belongs to no socket. */
const WARM_UP_SOCKETS = 200
/** What the service still has to do after the last socket was opened or closed. */
const REST_MS = 2_000
const TIMEOUT_MS = 10_000

/** In bytes, after a collection of garbage. */
const Memory = Type.Object({ rss: Type.Integer(), heap: Type.Integer(), external: Type.Integer() })
type Memory = Static<typeof Memory>

const probe = fileURLToPath(new URL('./memory-probe.ts', import.meta.url))

/** What a subscribed socket costs the service in memory while nothing happens. */
export async function measureIdle(bench: LiveBench): Promise<string> {
  const sockets = bench.options.sockets ?? SOCKETS
  const rows: Line[] = []
  for (const contender of bench.contenders) rows.push(await measureContender(bench, contender, sockets))
  return [
    `## Memory of an idle socket, of ${whole(sockets)} in rooms`,
    '',
    ...table(['KiB', 'heap', 'external', 'heap and external', 'resident', `at most ${MAX_KIB}`], rows),
  ].join('\n')
}

async function measureContender(bench: LiveBench, contender: Contender, sockets: number): Promise<Line> {
  const population = new RoomPopulation(sockets)
  const database = await bench.seeded(contender, population.seats)
  const server = await bench.start(database, contender, { nodeOptions: ['--expose-gc', '--import', probe] })
  const warmUp = population.seats.slice(0, WARM_UP_SOCKETS)
  for (const each of await population.connect(bench, server, warmUp)) await each.stop()
  await sleep(REST_MS)
  const before = await measureMemory(server)
  progress(`opening ${sockets} sockets to ${contender.name}`)
  await population.connect(bench, server)
  await sleep(REST_MS)
  const after = await measureMemory(server)
  const of = (read: (memory: Memory) => number): number => (read(after) - read(before)) / sockets / 1_024
  const held = of(({ heap, external }) => heap + external)
  return [
    contender.name,
    ...[of(({ heap }) => heap), of(({ external }) => external), held, of(({ rss }) => rss)].map((kib) =>
      kib.toFixed(1),
    ),
    held <= MAX_KIB ? 'met' : 'missed',
  ]
}

async function measureMemory(server: LiveServer): Promise<Memory> {
  const from = server.output().length
  process.kill(server.pid, 'SIGUSR2')
  for (let waited = 0; waited < TIMEOUT_MS; waited += 50) {
    await sleep(50)
    const text = /^MEMORY (.*)\n/m.exec(server.output().slice(from))?.[1]
    if (text !== undefined) return Value.Parse(Memory, JSON.parse(text))
  }
  throw new Error('the service does not tell its memory')
}
