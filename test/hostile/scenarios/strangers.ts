import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import { median } from '../../harness/load/percentiles.ts'
import type { Scenario, ScenarioContext } from '../../harness/scenario/scenario.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { userToken } from '../callers.ts'
import { startLoadProcess } from '../load-process.ts'
import { createPopulation, Victims } from '../population.ts'
import { startPrepared } from '../target.ts'

/** More sockets than an instance keeps of clients that have shown no token. */
const STRANGERS = 2_100
/** Clients with a token, which get in meanwhile. */
const KNOWN = 30
const TIMEOUT_MS = 8_000
/** Another address of this machine than that of the victims. */
const STRANGE_ADDRESS = '127.0.0.2'
/** The growth of the victims' p99 during a flood; less than so many milliseconds more are noise. */
const MAX_GROWTH = 4
const NOISE_MS = 50
const FLOODING = 20
const NEEDLESS_FRAMES = 2_000
const TOO_FAST = 4108

/** Whether clients without a token can take anything from those with one. */
export const strangers: Scenario = {
  name: 'strangers',
  about: `${STRANGERS} sockets without a token, bad tokens, needless frames and floods of open routes`,
  full: { rounds: 3, seconds: 3 },
  short: { rounds: 1, seconds: 1 },
  async run(context, { rounds, seconds }) {
    const { port, prepared: population } = await startPrepared(context, {}, createPopulation)
    const victims = await Victims.open(context, port, population)
    const load = startLoadProcess(context)
    await victims.run(seconds)
    const open = (path: string): Buffer =>
      bytesOf({ method: 'GET', path, headers: [['Accept-Encoding', 'gzip']], body: null })
    const floods: Readonly<Record<string, Buffer>> = {
      'bad tokens': bytesOf(jsonRequest('GET', '/v1/wallet', 'nonsense')),
      '/docs/json': open('/docs/json'),
      "the documents' page": open('/docs/static/swagger-ui-bundle.js'),
      '/healthz': open('/healthz'),
    }
    for (const [name, flood] of Object.entries(floods)) {
      const requests = [flood.toString('latin1')]
      const alone: number[] = []
      const flooded: number[] = []
      let limited = 0
      for (let round = 0; round < rounds; round += 1) {
        alone.push((await victims.run(seconds)).p99)
        const loading = load({
          kind: 'requests',
          port,
          requests,
          from: STRANGE_ADDRESS,
          connections: FLOODING,
          seconds,
        })
        flooded.push((await victims.run(seconds)).p99)
        limited += (await loading)['429'] ?? 0
      }
      const [quiet, p99] = [median(alone), median(flooded)]
      const figures = `p99 of others ${quiet.toFixed(1)} ms alone, ${p99.toFixed(1)} ms during a flood of ${name}`
      context.report(`${figures}, ${limited} requests of which were refused`)
      const holds = p99 <= MAX_GROWTH * quiet || p99 - quiet <= NOISE_MS
      context.expect(holds || context.sharesMachine, figures)
      // Load balancers ask for health without a token.
      context.expect(limited > 0 || name === '/healthz', `a flood of ${name} is not limited`)
    }
    const origin = `http://127.0.0.1:${port}`
    await sharedAddress(context, port, population.victims[0] ?? 0)
    await crowdOut(context, origin, population.receivers)
    await needlessFrames(context, origin, population.receivers.slice(KNOWN + 1))
  },
}

/** A request with a good token is served from an address whose allowance is used up, and so is `app-status`. */
async function sharedAddress(context: ScenarioContext, port: number, user: number): Promise<void> {
  const connection = new HttpConnection(port, STRANGE_ADDRESS)
  for (const [path, token] of [
    ['/v1/wallet', userToken(user)],
    ['/v1/app-status', ''],
  ] as const) {
    const { status } = await connection.send(bytesOf(jsonRequest('GET', path, token)))
    context.expect(status === 200, `${path} from a used-up address was answered ${status}`)
  }
  await connection.close()
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
  await context.waitFor(() => [...known, browser].every(isReady), TIMEOUT_MS)
  for (const client of [...known, browser]) {
    const who = client === browser ? 'a browser of another address' : 'a socket with a token'
    const how = `${client.rejection?.status}, ${client.code}`
    context.expect(isReady(client), `next to ${STRANGERS} strangers ${who} was refused (${how})`)
  }
  context.report(`of ${STRANGERS} sockets without a token ${kept} were kept, and those with one got in`)
  await Promise.all([...crowd, ...known, browser].map((client) => client.close()))
}

const isReady = ({ frames }: WebSocketClient): boolean => frames.some(({ t }) => t === 'ready')

/** Frames that ask for nothing count as frames. */
async function needlessFrames(context: ScenarioContext, origin: string, users: readonly number[]): Promise<void> {
  const kinds: Readonly<Record<string, (client: WebSocketClient) => void>> = {
    'unsolicited pongs': (client) => client.ws.pong(),
    pings: (client) => client.ws.ping(),
    'empty fragments': (client) => client.ws.send('', { fin: false }),
  }
  for (const [i, [name, send]] of Object.entries(kinds).entries()) {
    const client = new WebSocketClient(origin, { token: userToken(users[i] ?? 0), keepsFrames: true })
    await context.waitFor(() => isReady(client), TIMEOUT_MS)
    for (let n = 0; n < NEEDLESS_FRAMES && client.isOpen; n += 1) send(client)
    await context.waitFor(() => client.code !== undefined, TIMEOUT_MS)
    const what = `${NEEDLESS_FRAMES} ${name} at once: closed with ${client.code} and not ${TOO_FAST}`
    context.expect(client.code === TOO_FAST, what)
    await client.close()
  }
}
