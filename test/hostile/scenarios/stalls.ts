import { type Door, doorsOf } from '../../harness/http/api-routes.ts'
import { Line } from '../../harness/http/http-connection.ts'
import { bearer, bytesOf, plain, type Wish } from '../../harness/http/request.ts'
import { worstRequests } from '../../harness/http/worst-requests.ts'
import { median } from '../../harness/load/percentiles.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Measure, Scenario } from '../../harness/scenario/scenario.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import { tokenOf } from '../attack-run/roles.ts'
import { openAgency, startService, unlimited } from '../attack-run/target.ts'
import { Hammered } from '../noisy-neighbour/job.ts'
import { type Latencies, Neighbours } from '../noisy-neighbour/victims.ts'

/** What the others ask for: as little as there is, so that all it waits for is the event loop. */
const PER_SECOND = 200
const CONNECTIONS = 16
/** During the worst request of a route, sent over and over by this many at once, the others are answered within this. */
const AT_ONCE = [1, 3] as const
const MAX_P99_MS = 50
/** On a machine that is busy with something else, its own quiet figure times this. */
const MAX_GROWTH = 4
/** What holds others up does so every time; what else goes on at the machine does not. The least of so many counts. */
const TRIES = 3
/** A request that takes longer than this is the worst of its route: no need to look for one that is worse. */
const CERTAIN_MS = 1_000
/** The slowest requests of a route, which are sent once more to find the worst. */
const CANDIDATES = 5
/** Half of a short form's routes take bodies; it measures a few of each kind. */
const SHORT_ROUTES = 4

/** Whether any request that the limits let in holds up everybody else. */
export const stalls: Scenario = {
  name: 'stalls',
  about: `${PER_SECOND} requests a second for /healthz beside the worst request of each route`,
  full: { rounds: 1, seconds: 1 },
  short: { rounds: 1, seconds: 0.25 },
  play: measure,
}

interface Worst {
  readonly door: string
  readonly name: string
  readonly request: Buffer
  readonly ms: number
  readonly status: number
}

async function measure(stage: Stage, { seconds }: Measure): Promise<void> {
  const { instance, port } = await startService(stage, unlimited)
  await openAgency(port)
  const doors = [...(await doorsOf(instance.origin)), ...undocumented]
  const hammer = new HelperProcess(new URL('../noisy-neighbour/hammer.ts', import.meta.url), {})
  stage.teardown(() => hammer.stop())
  const health = await Neighbours.open(port, CONNECTIONS, [bytesOf(plain('GET', '/healthz', ''))])
  stage.teardown(async () => health.close())
  // Makes connections and code warm.
  await health.run(PER_SECOND, 1)
  const quiet = [await health.run(PER_SECOND, seconds * 4)]
  const rows: { readonly worst: Worst; readonly atOnce: readonly Latencies[] }[] = []
  for (const door of stage.sharesMachine ? few(doors) : doors) {
    const worst = await worstOf(stage, port, door)
    if (worst === undefined) continue
    const atOnce: Latencies[] = []
    for (const closed of AT_ONCE) {
      const requests = [worst.request.toString('latin1')]
      const beside = async (): Promise<Latencies> => {
        stage.signal.throwIfAborted()
        const hammering = hammer.call({ kind: 'beyond', port, requests, closed, pipelined: 0, seconds }, Hammered)
        const felt = await health.run(PER_SECOND, seconds)
        const statuses = Object.keys(await hammering).map(Number)
        const failed = statuses.filter((status) => status >= 500)
        stage.expect(failed.length === 0, `${worst.door} with ${worst.name} was answered ${failed.join(', ')}`)
        return felt
      }
      let least = await beside()
      for (let again = 1; again < TRIES && least.p99 > maxP99For(quiet); again += 1) {
        const next = await beside()
        if (next.p99 < least.p99) least = next
      }
      atOnce.push(least)
    }
    rows.push({ worst, atOnce })
    stage.say(`${worst.door}: p99 ${worstP99(atOnce).toFixed(1)} ms beside ${worst.name}`)
    quiet.push(await health.run(PER_SECOND, seconds / 2))
  }
  report(stage, rows, quiet)
}

/** Routes that are in no document. */
const undocumented: readonly Door[] = [
  '/docs',
  '/docs/json',
  '/docs/asyncapi.json',
  '/docs/static/swagger-ui-bundle.js',
  '/nowhere',
].map((path) => ({ name: `GET ${path}`, method: 'GET', path, kind: 'open', params: {}, query: {}, body: null }))

/** A list in fields is where validation costs most. */
const few = (doors: readonly Door[]): readonly Door[] => {
  const withLists = doors.filter(({ body }) => JSON.stringify(body ?? {}).includes('"items"'))
  return [...withLists.slice(0, SHORT_ROUTES), ...doors.filter(({ method }) => method === 'GET').slice(0, SHORT_ROUTES)]
}

/** The one of a route's dearest requests whose answer takes longest. */
async function worstOf(stage: Stage, port: number, door: Door): Promise<Worst | undefined> {
  const line = new Line(port)
  const ask = async (name: string, request: Buffer): Promise<Worst> => {
    stage.signal.throwIfAborted()
    const started = performance.now()
    const { status } = await line.ask(request)
    stage.expect(status < 500, `${door.name} with ${name} was answered ${status}`)
    return { door: door.name, name, request, ms: performance.now() - started, status }
  }
  let slowest: Worst[] = []
  for (const { name, wish } of worstRequests(door)) {
    slowest.push(await ask(name, bytesOf(withToken(door, wish))))
    slowest = slowest.toSorted((a, b) => b.ms - a.ms).slice(0, CANDIDATES)
    if ((slowest[0]?.ms ?? 0) > CERTAIN_MS) break
  }
  // Any of them may have been slow by chance.
  const again: Worst[] = []
  for (const one of slowest) {
    const next = await ask(one.name, one.request)
    again.push(next.ms < one.ms ? next : one)
  }
  await line.close()
  return again.toSorted((a, b) => b.ms - a.ms)[0]
}

const withToken = ({ kind }: Door, wish: Wish): Wish => {
  const token = kind === 'open' ? null : tokenOf(kind === 'admin' ? 'operator' : 'user')
  return token === null ? wish : { ...wish, headers: [bearer(token), ...wish.headers] }
}

function report(
  stage: Stage,
  rows: readonly { worst: Worst; atOnce: readonly Latencies[] }[],
  quiet: readonly Latencies[],
): void {
  const allowed = maxP99For(quiet)
  stage.tell(
    `/healthz alone: p99 ${quietP99(quiet).toFixed(1)} ms; beside the worst request of each route, in milliseconds`,
  )
  const heads = AT_ONCE.flatMap((count) => [`p50 at ${count}`, `p99 at ${count}`, `max at ${count}`])
  stage.tell(row('route', heads, 'with'))
  const sorted = rows.toSorted((a, b) => worstP99(b.atOnce) - worstP99(a.atOnce))
  for (const { worst, atOnce } of sorted) {
    const cells = atOnce.flatMap(({ p50, p99, longest }) => [p50, p99, longest].map((ms) => ms.toFixed(1)))
    stage.tell(row(worst.door, cells, `${worst.name} (${worst.status}, ${worst.ms.toFixed(0)} ms alone)`))
    const p99 = worstP99(atOnce)
    stage.expect(p99 <= allowed, `${worst.door} with ${worst.name}: p99 of others is ${p99.toFixed(0)} ms`)
  }
}

const quietP99 = (quiet: readonly Latencies[]): number => median(quiet.map(({ p99 }) => p99))
const maxP99For = (quiet: readonly Latencies[]): number => Math.max(MAX_P99_MS, MAX_GROWTH * quietP99(quiet))

const worstP99 = (atOnce: readonly Latencies[]): number => Math.max(...atOnce.map(({ p99 }) => p99))

const row = (name: string, cells: readonly string[], last: string): string =>
  `${name.padEnd(62)}${cells.map((cell) => cell.padStart(10)).join('')}  ${last}`
