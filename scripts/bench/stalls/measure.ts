import { setTimeout as sleep } from 'node:timers/promises'
import { fetchRoutes, type Route } from '../../../test/harness/http/api-routes.ts'
import { ConnectionClosed, HttpConnection } from '../../../test/harness/http/http-connection.ts'
import { bytesOf, type HttpRequest } from '../../../test/harness/http/request.ts'
import { worstRequests } from '../../../test/harness/http/worst-requests.ts'
import { type Bench, progress } from '../bench.ts'
import { Measured } from '../load/job.ts'
import {
  costliestRequests,
  preparations,
  type RequestFactory,
  SENDER,
  sendToAll,
  staffToken,
  userToken,
  withToken,
} from './dearest.ts'

/** Milliseconds in which others are to be answered, at p99. */
export const MAX_P99_MS = 50
/** Probes a second. */
const PROBES = 200

/** What others had to wait while a route was asked for what costs it most. */
export interface Stall {
  readonly route: string
  /** What makes the request dear. */
  readonly request: string
  readonly status: number
  /** Milliseconds until it was answered, at its slowest. */
  readonly answered: number
  readonly others: Measured
}

interface Candidate {
  readonly name: string
  readonly make: RequestFactory
}

/** Route by route: finds the request that takes longest, sends it over and over, and asks for /healthz beside it. */
export async function measureStalls(bench: Bench): Promise<readonly Stall[]> {
  const { options, servers, generator } = bench
  const { port } = await servers.ours(await bench.seeded('stalls'))
  const connection = new HttpConnection(port)
  const send = async (route: Pick<Route, 'kind'>, request: HttpRequest): Promise<{ status: number; ms: number }> => {
    const token = route.kind === 'admin' ? staffToken() : userToken(SENDER)
    const bytes = bytesOf(route.kind === 'open' ? request : withToken(request, token))
    const from = performance.now()
    // A connection may be closed instead of answered.
    const status = await connection.send(bytes).then(
      (response) => response.status,
      (error: unknown) => {
        if (error instanceof ConnectionClosed) return 0
        throw error
      },
    )
    return { status, ms: performance.now() - from }
  }
  try {
    for (const request of preparations) await send({ kind: 'admin' }, request)
    for (let n = 0; n < 200; n += 1) await send({ kind: 'client' }, sendToAll(SENDER)(n))
    const stalls: Stall[] = []
    let sent = 1
    for (const route of await fetchRoutes(`http://127.0.0.1:${port}`)) {
      const worst = await slowest(candidatesFor(route), (make) => send(route, make((sent += 1))))
      const probing = generator.call({ kind: 'probe', port, perSecond: PROBES, seconds: options.seconds }, Measured)
      let over = false
      const probed = probing.finally(() => (over = true))
      let answered = 0
      let status = 0
      while (!over) {
        const response = await send(route, worst.make((sent += 1)))
        status = response.status
        answered = Math.max(answered, response.ms)
        // Else this process would take all of a core.
        await sleep(1)
      }
      const others = await probed
      progress(`${route.name}: p99 ${others.p99.toFixed(1)} ms, max ${others.max.toFixed(1)} ms (${worst.name})`)
      stalls.push({ route: route.name, request: worst.name, status, answered, others })
    }
    return stalls
  } finally {
    await connection.close()
  }
}

function* candidatesFor(route: Route): Generator<Candidate> {
  for (const { name, request } of worstRequests(route)) yield { name, make: () => request }
  for (const make of costliestRequests[route.name] ?? []) yield { name: 'all that is allowed', make }
}

/** The second time counts: what is compiled or looked up once is no reason to wait. */
async function slowest(
  candidates: Iterable<Candidate>,
  send: (make: RequestFactory) => Promise<{ readonly ms: number }>,
): Promise<Candidate> {
  let worst: Candidate | undefined
  let longest = -1
  for (const candidate of candidates) {
    await send(candidate.make)
    const { ms } = await send(candidate.make)
    if (ms <= longest) continue
    longest = ms
    worst = candidate
  }
  if (worst === undefined) throw new Error('a route without requests')
  return worst
}
