import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '../../../../test/harness/load/clock.ts'
import { progress } from '../../bench.ts'
import { Compared, Done, Returned } from '../room-sockets/jobs.ts'
import { giftsByRoom, RoomPopulation } from '../room-sockets/population.ts'
import { type Contender, defineLuckyGift, type LiveBench, type LiveServer } from '../service/live-service.ts'
import { LoadReport, Stopped } from './jobs.ts'
import { listenOverflows } from './listen-overflows.ts'
import { type Fault, faultNames, reportOf, type Storm } from './report.ts'

const SOCKETS = 10_000
const ROUNDS = 1
/** Before each fault, for comparison. */
const QUIET_MS = 5_000
const TIMEOUT_MS = 180_000

/** All sockets come back at once, after the service is killed, and when it stops for another one. */
export async function measureStorm(bench: LiveBench): Promise<string> {
  const { options, contenders } = bench
  const sockets = options.sockets ?? SOCKETS
  const storms: Storm[] = []
  for (const contender of contenders) {
    const inflict = await open(bench, contender, sockets)
    for (let round = 1; round <= (options.rounds ?? ROUNDS); round += 1)
      for (const fault of faultNames) {
        const storm = { ...(await inflict(fault)), column: `${contender.name}, ${round}` }
        const { gift } = storm.meanwhile
        progress(
          `storm, round ${round}, ${contender.name}, ${fault}: ${storm.backMs.length} sockets back within ${Math.round(storm.backMs.at(-1) ?? 0)} ms, p99 of gifts ${gift.p99.toFixed(0)} ms`,
        )
        storms.push(storm)
      }
  }
  return reportOf(sockets, storms)
}

/** What a fault did: when the clients lost the service, since when its return is measured, and the service after it. */
interface Inflicted {
  readonly struckAt: number
  readonly since: number
  /** How long the service took to stop; null when it was killed. */
  readonly exitMs: number | null
  /** From then until the next service was ready; null when it was so before. */
  readonly awayMs: number | null
  readonly next: LiveServer
}

/** Opens all sockets; the result inflicts a fault. */
async function open(bench: LiveBench, contender: Contender, sockets: number) {
  const population = new RoomPopulation(sockets)
  const database = await bench.seeded(contender, population.seats)
  let server = await bench.start(database, contender)
  progress(`opening ${sockets} sockets to ${contender.name}`)
  await defineLuckyGift(server.port)
  const processes = await population.connect(bench, server)
  const load = bench.clients(new URL('./load.ts', import.meta.url))

  /** Counts anew, and sends new connections there. */
  const moveTo = ({ livePort, port }: LiveServer): Promise<unknown> =>
    Promise.all([
      ...processes.map((each) => each.call({ do: 'watch', port: livePort }, Done)),
      load.call({ do: 'move', port }, Done),
    ])

  const faults: { readonly [Name in Fault]: () => Promise<Inflicted> } = {
    async kill() {
      await moveTo(server)
      const struckAt = clock()
      await server.kill()
      const next = await bench.start(database, contender, { ports: server })
      return { struckAt, since: next.readyAt, exitMs: null, awayMs: next.readyAt - struckAt, next }
    },
    async restart() {
      await moveTo(server)
      const struckAt = clock()
      await server.stop()
      const exitMs = clock() - struckAt
      const next = await bench.start(database, contender, { ports: server })
      return { struckAt, since: struckAt, exitMs, awayMs: next.readyAt - struckAt, next }
    },
    async replacement() {
      const next = await bench.start(database, contender)
      const struckAt = clock()
      const stopped = server.stop()
      await moveTo(next)
      await stopped
      return { struckAt, since: struckAt, exitMs: clock() - struckAt, awayMs: null, next }
    },
  }

  return async (fault: Fault): Promise<Omit<Storm, 'column'>> => {
    await load.call({ do: 'start', port: server.port, rooms: population.rooms }, Done)
    const quietFrom = clock()
    await sleep(QUIET_MS)
    const quietUntil = clock()
    const overflowsBefore = listenOverflows()
    const inflicted = await faults[fault]()
    const { struckAt, since, exitMs, awayMs } = inflicted
    server = inflicted.next
    const returned = await Promise.all(
      processes.map((each) => each.call({ do: 'await-live', since: struckAt, timeoutMs: TIMEOUT_MS }, Returned)),
    )
    const overflows = listenOverflows() - overflowsBefore
    const after = (read: (each: Returned) => readonly number[]): number[] =>
      returned
        .flatMap(read)
        .map((at) => at - since)
        .toSorted((a, b) => a - b)
    const readyMs = after(({ readyAt }) => readyAt)
    const backMs = after(({ liveAt }) => liveAt)
    const stopped = await load.call({ do: 'stop' }, Stopped)
    const report = (from: number, until: number): Promise<LoadReport> =>
      load.call({ do: 'report', from, until }, LoadReport)
    const quiet = await report(quietFrom, quietUntil)
    const meanwhile = await report(since, since + (backMs.at(-1) ?? TIMEOUT_MS))
    const rooms = await giftsByRoom(bench, database)
    const compared = await Promise.all(processes.map((each) => each.call({ do: 'compare', rooms }, Compared)))
    return {
      fault,
      exitMs,
      awayMs,
      readyMs,
      backMs,
      returned,
      overflows,
      quiet,
      meanwhile,
      load: stopped.load,
      compared,
    }
  }
}
