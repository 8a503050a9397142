import { fetchRoutes, type Route } from '../../harness/http/api-routes.ts'
import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bearer, bytesOf, type HttpRequest, jsonRequest } from '../../harness/http/request.ts'
import { worstRequests } from '../../harness/http/worst-requests.ts'
import { median } from '../../harness/load/percentiles.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Extent, Scenario } from '../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { tokenOf } from '../attack-run/roles.ts'
import { openAgency, startService, unlimited } from '../attack-run/target.ts'
import { ResponseCounts } from '../noisy-neighbour/job.ts'
import { type Latencies, Victims } from '../noisy-neighbour/victims.ts'

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
  about: `${PER_SECOND} requests a second for /healthz during the worst request of each route`,
  full: { rounds: 1, seconds: 1 },
  short: { rounds: 1, seconds: 0.25 },
  run: measure,
}

interface Worst {
  readonly route: string
  readonly name: string
  readonly request: Buffer
  readonly ms: number
  readonly status: number
}

async function measure(context: ScenarioContext, { seconds }: Extent): Promise<void> {
  const { instance, port } = await startService(context, unlimited)
  await openAgency(port)
  const routes = [...(await fetchRoutes(instance.origin)), ...undocumented]
  const loadProcess = new HelperProcess(new URL('../noisy-neighbour/load-process.ts', import.meta.url), {})
  context.teardown(() => loadProcess.stop())
  const health = await Victims.open(port, CONNECTIONS, [bytesOf(jsonRequest('GET', '/healthz', ''))])
  context.teardown(async () => health.close())
  // Makes connections and code warm.
  await health.run(PER_SECOND, 1)
  const quiet = [await health.run(PER_SECOND, seconds * 4)]
  const rows: { readonly worst: Worst; readonly atOnce: readonly Latencies[] }[] = []
  for (const route of context.sharesMachine ? few(routes) : routes) {
    const worst = await worstOf(context, port, route)
    if (worst === undefined) continue
    const atOnce: Latencies[] = []
    for (const closed of AT_ONCE) {
      const requests = [worst.request.toString('latin1')]
      const underLoad = async (): Promise<Latencies> => {
        context.signal.throwIfAborted()
        const load = loadProcess.call({ kind: 'beyond', port, requests, closed, pipelined: 0, seconds }, ResponseCounts)
        const felt = await health.run(PER_SECOND, seconds)
        const statuses = Object.keys(await load).map(Number)
        const failed = statuses.filter((status) => status >= 500)
        context.expect(failed.length === 0, `${worst.route} with ${worst.name} was answered ${failed.join(', ')}`)
        return felt
      }
      let least = await underLoad()
      for (let again = 1; again < TRIES && least.p99 > maxP99For(quiet); again += 1) {
        const next = await underLoad()
        if (next.p99 < least.p99) least = next
      }
      atOnce.push(least)
    }
    rows.push({ worst, atOnce })
    context.progress(`${worst.route}: p99 ${worstP99(atOnce).toFixed(1)} ms during ${worst.name}`)
    quiet.push(await health.run(PER_SECOND, seconds / 2))
  }
  report(context, rows, quiet)
}

/** Routes that are in no document. */
const undocumented: readonly Route[] = [
  '/docs',
  '/docs/json',
  '/docs/asyncapi.json',
  '/docs/static/swagger-ui-bundle.js',
  '/nowhere',
].map((path) => ({ name: `GET ${path}`, method: 'GET', path, kind: 'open', params: {}, query: {}, body: null }))

/** A list in fields is where validation costs most. */
const few = (routes: readonly Route[]): readonly Route[] => {
  const withLists = routes.filter(({ body }) => JSON.stringify(body ?? {}).includes('"items"'))
  return [
    ...withLists.slice(0, SHORT_ROUTES),
    ...routes.filter(({ method }) => method === 'GET').slice(0, SHORT_ROUTES),
  ]
}

/** The one of a route's costliest requests whose answer takes longest. */
async function worstOf(context: ScenarioContext, port: number, route: Route): Promise<Worst | undefined> {
  const connection = new HttpConnection(port)
  const send = async (name: string, request: Buffer): Promise<Worst> => {
    context.signal.throwIfAborted()
    const started = performance.now()
    const { status } = await connection.send(request)
    context.expect(status < 500, `${route.name} with ${name} was answered ${status}`)
    return { route: route.name, name, request, ms: performance.now() - started, status }
  }
  let slowest: Worst[] = []
  for (const { name, request } of worstRequests(route)) {
    slowest.push(await send(name, bytesOf(withToken(route, request))))
    slowest = slowest.toSorted((a, b) => b.ms - a.ms).slice(0, CANDIDATES)
    if ((slowest[0]?.ms ?? 0) > CERTAIN_MS) break
  }
  // Any of them may have been slow by chance.
  const again: Worst[] = []
  for (const one of slowest) {
    const next = await send(one.name, one.request)
    again.push(next.ms < one.ms ? next : one)
  }
  await connection.close()
  return again.toSorted((a, b) => b.ms - a.ms)[0]
}

const withToken = ({ kind }: Route, request: HttpRequest): HttpRequest => {
  const token = kind === 'open' ? null : tokenOf(kind === 'admin' ? 'operator' : 'user')
  return token === null ? request : { ...request, headers: [bearer(token), ...request.headers] }
}

function report(
  context: ScenarioContext,
  rows: readonly { worst: Worst; atOnce: readonly Latencies[] }[],
  quiet: readonly Latencies[],
): void {
  const allowed = maxP99For(quiet)
  context.report(
    `/healthz alone: p99 ${quietP99(quiet).toFixed(1)} ms; during the worst request of each route, in milliseconds`,
  )
  const heads = AT_ONCE.flatMap((count) => [`p50 at ${count}`, `p99 at ${count}`, `max at ${count}`])
  context.report(row('route', heads, 'with'))
  const sorted = rows.toSorted((a, b) => worstP99(b.atOnce) - worstP99(a.atOnce))
  for (const { worst, atOnce } of sorted) {
    const cells = atOnce.flatMap(({ p50, p99, longest }) => [p50, p99, longest].map((ms) => ms.toFixed(1)))
    context.report(row(worst.route, cells, `${worst.name} (${worst.status}, ${worst.ms.toFixed(0)} ms alone)`))
    const p99 = worstP99(atOnce)
    context.expect(p99 <= allowed, `${worst.route} with ${worst.name}: p99 of others is ${p99.toFixed(0)} ms`)
  }
}

const quietP99 = (quiet: readonly Latencies[]): number => median(quiet.map(({ p99 }) => p99))
const maxP99For = (quiet: readonly Latencies[]): number => Math.max(MAX_P99_MS, MAX_GROWTH * quietP99(quiet))

const worstP99 = (atOnce: readonly Latencies[]): number => Math.max(...atOnce.map(({ p99 }) => p99))

const row = (name: string, cells: readonly string[], last: string): string =>
  `${name.padEnd(62)}${cells.map((cell) => cell.padStart(10)).join('')}  ${last}`
