import { ConnectionClosed, HttpConnection } from '../../../test/harness/http/http-connection.ts'
import { bytesOf } from '../../../test/harness/http/request.ts'
import { type Bench, progress } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { cpuOf, cpuOfCluster } from '../profile/cpu.ts'
import {
  costliestRequests,
  EXTRA_USERS,
  preparations,
  type RequestFactory,
  sendToAll,
  staffToken,
  userToken,
  withToken,
} from './costliest-requests.ts'

/** Gifts of other users, a second. */
const OTHERS_PER_SECOND = 50
/** As many as requests of one user are handled at a time. */
const CONNECTIONS = 4

/** A user who uses up the rate limit, and the latency of others meanwhile. */
export interface AllowanceUse {
  readonly kind: string
  /** Requests that were accepted. */
  readonly requests: number
  /** CPU microseconds of one request. */
  readonly node: number
  readonly postgres: number
  readonly others: Measured
}

export interface Allowance {
  readonly quiet: Measured
  readonly uses: readonly AllowanceUse[]
}

type Kind = readonly [name: string, make: (user: number) => RequestFactory]

const read = (path: string) => (): RequestFactory => () => ({ method: 'GET', path, headers: [], body: null })

const [verifyDraw, verifySpin] = costliestRequests['POST /api/v1/fairness/verify'] ?? []

const kinds: readonly Kind[] = [
  ['a wallet', read('/api/v1/wallet')],
  ['a gift to 100', sendToAll],
  ['100 draws listed', read('/api/v1/fairness/lucky/draws?limit=200')],
  ['all decorations', read('/api/v1/decorations')],
  ...(verifyDraw === undefined ? [] : [['a draw verified', () => verifyDraw] as const]),
  ...(verifySpin === undefined ? [] : [['a spin verified', () => verifySpin] as const]),
]

/** One user after the other uses up the rate limit with one kind of request, while others send gifts. */
export async function measureAllowance(bench: Bench): Promise<Allowance> {
  const { options, servers, generator, cluster } = bench
  const server = await servers.ours(await bench.seeded('allowance'), [], { RATE_LIMIT: '1200' })
  const { port } = server
  const preparation = new HttpConnection(port)
  for (const request of preparations) await preparation.send(bytesOf(withToken(request, staffToken())))
  await preparation.close()
  const gifts = (): Promise<Measured> =>
    generator.call(
      { kind: 'open', mix: 'uniform', port, perSecond: OTHERS_PER_SECOND, seconds: options.seconds },
      Measured,
    )
  await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  const quiet = await gifts()
  const uses: AllowanceUse[] = []
  for (const [i, [kind, make]] of kinds.entries()) {
    const user = EXTRA_USERS.first + i
    const cpu = () => ({ node: cpuOf(server.pid), postgres: cpuOfCluster(cluster.postmaster) })
    const before = cpu()
    const requests = await useAllowance(port, user, make(user))
    const after = cpu()
    const secondUser = user + kinds.length
    const [others] = await Promise.all([gifts(), useAllowance(port, secondUser, make(secondUser))])
    const node = (after.node - before.node) / requests
    const postgres = (after.postgres - before.postgres) / requests
    progress(
      `${kind}: ${requests} requests, ${Math.round(node)} + ${Math.round(postgres)} µs, others' p99 ${others.p99}`,
    )
    uses.push({ kind, requests, node, postgres, others })
  }
  return { quiet, uses }
}

/** Sends until the rate limit refuses; answers how many requests were accepted. */
async function useAllowance(port: number, user: number, make: RequestFactory): Promise<number> {
  let requests = 0
  const send = async (): Promise<void> => {
    const connection = new HttpConnection(port)
    try {
      for (;;) {
        const { status } = await connection.send(bytesOf(withToken(make(requests), userToken(user))))
        if (status === 429) return
        requests += 1
      }
    } catch (error) {
      if (!(error instanceof ConnectionClosed)) throw error
    } finally {
      await connection.close()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send))
  return requests
}
