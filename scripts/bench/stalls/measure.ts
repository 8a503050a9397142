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
} from './costliest-requests.ts'

/** Target of the latency of others. */
export const MAX_P99_MS = 50
const PROBES_PER_SECOND = 200

/** The latency of others while a route handles its costliest request. */
export interface Stall {
  readonly route: string
  /** What makes the request costly. */
  readonly request: string
  readonly status: number
  /** Milliseconds until the slowest answer. */
  readonly answerMs: number
  readonly others: Measured
}

interface Candidate {
  readonly name: string
  readonly make: RequestFactory
}

/** For each route: finds the slowest request, sends it again and again, and measures GET /healthz meanwhile. */
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
      const probing = generator.call(
        { kind: 'probe', port, perSecond: PROBES_PER_SECOND, seconds: options.seconds },
        Measured,
      )
      let isOver = false
      const probes = probing.finally(() => (isOver = true))
      let answerMs = 0
      let status = 0
      while (!isOver) {
        const response = await send(route, worst.make((sent += 1)))
        status = response.status
        answerMs = Math.max(answerMs, response.ms)
        // Leaves some of the processor to the service.
        await sleep(1)
      }
      const others = await probes
      progress(`${route.name}: p99 ${others.p99.toFixed(1)} ms, max ${others.max.toFixed(1)} ms (${worst.name})`)
      stalls.push({ route: route.name, request: worst.name, status, answerMs, others })
    }
    return stalls
  } finally {
    await connection.close()
  }
}

function* candidatesFor(route: Route): Generator<Candidate> {
  for (const { name, request } of worstRequests(route)) yield { name, make: () => request }
  for (const make of costliestRequests[route.name] ?? []) yield { name: 'largest allowed values', make }
}

/** Takes the time of the second request, without compilation and caches that are filled once. */
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
