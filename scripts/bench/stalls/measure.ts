import { setTimeout as sleep } from 'node:timers/promises'
import { type Door, doorsOf } from '../../../test/harness/http/api-routes.ts'
import { CutOff, Line } from '../../../test/harness/http/http-connection.ts'
import { bytesOf, type Wish } from '../../../test/harness/http/request.ts'
import { worstRequests } from '../../../test/harness/http/worst-requests.ts'
import { type Bench, tell } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { type Dearest, dearest, preparations, SENDER, sendToAll, staffToken, userToken, withToken } from './dearest.ts'

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
  readonly make: Dearest
}

/** Route by route: finds the request that takes longest, sends it over and over, and asks for /healthz beside it. */
export async function measureStalls(bench: Bench): Promise<readonly Stall[]> {
  const { options, servers, generator } = bench
  const { port } = await servers.ours(await bench.seeded('stalls'))
  const line = new Line(port)
  const ask = async (door: Pick<Door, 'kind'>, wish: Wish): Promise<{ status: number; ms: number }> => {
    const token = door.kind === 'admin' ? staffToken() : userToken(SENDER)
    const bytes = bytesOf(door.kind === 'open' ? wish : withToken(wish, token))
    const from = performance.now()
    // A connection may be closed instead of answered.
    const status = await line.ask(bytes).then(
      (answer) => answer.status,
      (error: unknown) => {
        if (error instanceof CutOff) return 0
        throw error
      },
    )
    return { status, ms: performance.now() - from }
  }
  try {
    for (const wish of preparations) await ask({ kind: 'admin' }, wish)
    for (let n = 0; n < 200; n += 1) await ask({ kind: 'client' }, sendToAll(SENDER)(n))
    const stalls: Stall[] = []
    let sent = 1
    for (const door of await doorsOf(`http://127.0.0.1:${port}`)) {
      const worst = await slowest(candidatesFor(door), (make) => ask(door, make((sent += 1))))
      const probing = generator.call({ kind: 'probe', port, perSecond: PROBES, seconds: options.seconds }, Measured)
      let over = false
      const probed = probing.finally(() => (over = true))
      let answered = 0
      let status = 0
      while (!over) {
        const answer = await ask(door, worst.make((sent += 1)))
        status = answer.status
        answered = Math.max(answered, answer.ms)
        // Else this process would take all of a core.
        await sleep(1)
      }
      const others = await probed
      tell(`${door.name}: p99 ${others.p99.toFixed(1)} ms, max ${others.max.toFixed(1)} ms (${worst.name})`)
      stalls.push({ route: door.name, request: worst.name, status, answered, others })
    }
    return stalls
  } finally {
    await line.close()
  }
}

function* candidatesFor(door: Door): Generator<Candidate> {
  for (const { name, wish } of worstRequests(door)) yield { name, make: () => wish }
  for (const make of dearest[door.name] ?? []) yield { name: 'all that is allowed', make }
}

/** The second time counts: what is compiled or looked up once is no reason to wait. */
async function slowest(
  candidates: Iterable<Candidate>,
  ask: (make: Dearest) => Promise<{ readonly ms: number }>,
): Promise<Candidate> {
  let worst: Candidate | undefined
  let longest = -1
  for (const candidate of candidates) {
    await ask(candidate.make)
    const { ms } = await ask(candidate.make)
    if (ms <= longest) continue
    longest = ms
    worst = candidate
  }
  if (worst === undefined) throw new Error('a route without requests')
  return worst
}
