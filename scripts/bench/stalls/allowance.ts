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
} from './dearest.ts'

/** Gifts of others, a second. */
const OTHERS = 50
/** As many connections as a user's requests are worked on at a time. */
const CONNECTIONS = 4

/** What somebody got who took all he is allowed, and what others had to wait meanwhile. */
export interface AllowanceUse {
  readonly kind: string
  /** Requests that were let in. */
  readonly requests: number
  /** CPU of one, in microseconds. */
  readonly node: number
  readonly postgres: number
  readonly others: Measured
}

export interface Allowance {
  readonly quiet: Measured
  readonly taken: readonly AllowanceUse[]
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

/** One user after the other takes all he is allowed of one kind, while others send gifts. */
export async function measureAllowance(bench: Bench): Promise<Allowance> {
  const { options, servers, generator, cluster } = bench
  const server = await servers.ours(await bench.seeded('allowance'), [], { RATE_LIMIT: '1200' })
  const { port } = server
  const setUp = new HttpConnection(port)
  for (const request of preparations) await setUp.send(bytesOf(withToken(request, staffToken())))
  await setUp.close()
  const gifts = (): Promise<Measured> =>
    generator.call({ kind: 'open', mix: 'uniform', port, perSecond: OTHERS, seconds: options.seconds }, Measured)
  await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  const quiet = await gifts()
  const taken: AllowanceUse[] = []
  for (const [i, [kind, make]] of kinds.entries()) {
    const user = EXTRA_USERS.first + i
    const cpu = () => ({ node: cpuOf(server.pid), postgres: cpuOfCluster(cluster.postmaster) })
    const before = cpu()
    const requests = await useAllowance(port, user, make(user))
    const after = cpu()
    const again = user + kinds.length
    const [others] = await Promise.all([gifts(), useAllowance(port, again, make(again))])
    const node = (after.node - before.node) / requests
    const postgres = (after.postgres - before.postgres) / requests
    progress(
      `${kind}: ${requests} requests, ${Math.round(node)} + ${Math.round(postgres)} µs, others' p99 ${others.p99}`,
    )
    taken.push({ kind, requests, node, postgres, others })
  }
  return { quiet, taken }
}

/** Sends until the allowance is used up; answers how many were let in. */
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
