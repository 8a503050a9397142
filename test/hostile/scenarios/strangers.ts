import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import type { Scenario, ScenarioContext } from '../../harness/scenario/scenario.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { userToken } from '../callers.ts'
import { type Counts, startLoadProcess } from '../load-process.ts'
import { compareLoads, createPopulation } from '../population.ts'
import { startPrepared } from '../target.ts'

/** More sockets than an instance keeps of clients that have shown no token. */
const STRANGERS = 2_100
/** Clients with a token, which get in meanwhile. */
const KNOWN = 30
const TIMEOUT_MS = 8_000
/** A flood is several times what an address may ask for in a minute, on the slowest of machines. */
const LIMITED_WITHIN_SECONDS = 15

const isLimited = (counts: Counts): boolean => (counts['429'] ?? 0) > 0

/** Whether clients without a token can take anything from those with one. */
export const strangers: Scenario = {
  name: 'strangers',
  about: `${STRANGERS} sockets without a token, bad tokens, and floods of open routes`,
  full: { rounds: 3, seconds: 3 },
  short: { rounds: 1, seconds: 1 },
  async run(context, extent) {
    const { port, prepared: population } = await startPrepared(context, createPopulation)
    // From another address of this machine than that of the victims.
    const flood = (request: Buffer) => () => ({ requests: [request], connections: 20, localAddress: '127.0.0.2' })
    const open = (path: string): Buffer =>
      bytesOf({ method: 'GET', path, headers: [['Accept-Encoding', 'gzip']], body: null })
    const loads = {
      'bad tokens': flood(bytesOf(jsonRequest('GET', '/v1/wallet', 'nonsense'))),
      '/docs/json': flood(open('/docs/json')),
      "the documents' page": flood(open('/docs/static/swagger-ui-bundle.js')),
      '/healthz': flood(open('/healthz')),
    }
    const comparison = { ...extent, port, maxGrowth: 4, noiseMs: 50, loads }
    const compared = await compareLoads(context, population, comparison)
    const startLoad = startLoadProcess(context)
    for (const [name, load] of Object.entries(loads)) {
      // Load balancers ask for health without a token.
      if (name === '/healthz' || isLimited(compared.get(name) ?? {})) continue
      // A busy machine may have taken fewer than the limit in so short a time.
      const counts = await startLoad({ port, seconds: LIMITED_WITHIN_SECONDS, ...load() })
      context.expect(isLimited(counts), `a flood of ${name} is not limited: ${JSON.stringify(counts)}`)
    }
    await crowdOut(context, `http://127.0.0.1:${port}`, population.receivers)
  },
}

async function crowdOut(context: ScenarioContext, origin: string, users: readonly number[]): Promise<void> {
  const crowd = Array.from({ length: STRANGERS }, () => new WebSocketClient(origin, { localAddress: '127.0.0.3' }))
  context.teardown(async () => void (await Promise.all(crowd.map((client) => client.close()))))
  await context.waitFor(() => crowd.every(({ isSettled }) => isSettled), TIMEOUT_MS * 4)
  const kept = crowd.filter(({ isOpen }) => isOpen).length
  const known = users
    .slice(0, KNOWN)
    .map((user) => new WebSocketClient(origin, { token: userToken(user), keepsFrames: true }))
  // A browser has no header for a token: it sends it in its first frame, from an address of its own.
  const browser = new WebSocketClient(origin, { localAddress: '127.0.0.4', keepsFrames: true })
  context.teardown(async () => void (await Promise.all([...known, browser].map((client) => client.close()))))
  await context.waitFor(() => browser.isSettled, TIMEOUT_MS)
  if (browser.isOpen) browser.send({ t: 'auth', token: userToken(users[KNOWN] ?? 0) })
  const isReady = ({ frames }: WebSocketClient): boolean => frames.some(({ t }) => t === 'ready')
  await context.waitFor(() => [...known, browser].every(isReady), TIMEOUT_MS)
  for (const client of [...known, browser]) {
    const who = client === browser ? 'a browser of another address' : 'a socket with a token'
    const how = `${client.rejection?.status}, ${client.code}`
    context.expect(isReady(client), `next to ${STRANGERS} strangers ${who} was refused (${how})`)
  }
  context.report(`of ${STRANGERS} sockets without a token ${kept} were kept, and those with one got in`)
}
