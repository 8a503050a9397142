import { CutOff, Line } from '../../../test/harness/http/http-connection.ts'
import { bytesOf } from '../../../test/harness/http/request.ts'
import { type Bench, tell } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { cpuOf, cpuOfCluster } from '../profile/cpu.ts'
import {
  type Dearest,
  dearest,
  EXTRA_USERS,
  preparations,
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
export interface Taken {
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
  readonly taken: readonly Taken[]
}

type Kind = readonly [name: string, make: (user: number) => Dearest]

const read = (path: string) => (): Dearest => () => ({ method: 'GET', path, headers: [], body: null })

const [verifyDraw, verifySpin] = dearest['POST /api/v1/fairness/verify'] ?? []

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
  const setUp = new Line(port)
  for (const wish of preparations) await setUp.ask(bytesOf(withToken(wish, staffToken())))
  await setUp.close()
  const gifts = (): Promise<Measured> =>
    generator.call({ kind: 'open', mix: 'uniform', port, perSecond: OTHERS, seconds: options.seconds }, Measured)
  await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  const quiet = await gifts()
  const taken: Taken[] = []
  for (const [i, [kind, make]] of kinds.entries()) {
    const user = EXTRA_USERS.first + i
    const cpu = () => ({ node: cpuOf(server.pid), postgres: cpuOfCluster(cluster.postmaster) })
    const before = cpu()
    const requests = await takeAll(port, user, make(user))
    const after = cpu()
    const again = user + kinds.length
    const [others] = await Promise.all([gifts(), takeAll(port, again, make(again))])
    const node = (after.node - before.node) / requests
    const postgres = (after.postgres - before.postgres) / requests
    tell(`${kind}: ${requests} requests, ${Math.round(node)} + ${Math.round(postgres)} µs, others' p99 ${others.p99}`)
    taken.push({ kind, requests, node, postgres, others })
  }
  return { quiet, taken }
}

/** Sends until the allowance is used up; answers how many were let in. */
async function takeAll(port: number, user: number, make: Dearest): Promise<number> {
  let requests = 0
  const send = async (): Promise<void> => {
    const line = new Line(port)
    try {
      for (;;) {
        const { status } = await line.ask(bytesOf(withToken(make(requests), userToken(user))))
        if (status === 429) return
        requests += 1
      }
    } catch (error) {
      if (!(error instanceof CutOff)) throw error
    } finally {
      await line.close()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send))
  return requests
}
