import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, jsonRequest, jsonType } from '../../harness/http/request.ts'
import { median } from '../../harness/load/percentiles.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Extent, Scenario } from '../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { waitFor } from '../../harness/scenario/wait-for.ts'
import { RecordingClient } from '../../harness/websocket/websocket-client.ts'
import { startPrepared } from '../attack-run/target.ts'
import { type Job, ResponseCounts } from '../noisy-neighbour/job.ts'
import { createPopulation, gifts, tokenOf } from '../noisy-neighbour/population.ts'
import { type Latencies, Victims } from '../noisy-neighbour/victims.ts'

/** More than an instance keeps of those who have shown no token. */
const STRANGERS = 2_100
/** Whoever has a token gets in meanwhile within this. */
const ADMITTED = 30
const PATIENCE_MS = 8_000
/** Addresses of this machine: the one of strangers is not that of victims, but where it says so. */
const STRANGE = '127.0.0.2'
/** What victims ask for in a second, and the growth of their p99 during a flood; less than so many milliseconds are noise. */
const PER_SECOND = 200
const CONNECTIONS = 32
const MAX_GROWTH = 4
const NOISE_MS = 50
const FLOODING = 20
const NEEDLESS_FRAMES = 2_000
const TOO_FAST = 4108

/** Whether those without a token can take anything from those who have one. */
export const strangers: Scenario = {
  name: 'strangers',
  about: `${STRANGERS} sockets without a token, bad tokens, needless frames and floods of open routes`,
  full: { rounds: 3, seconds: 3 },
  short: { rounds: 1, seconds: 1 },
  run: attack,
}

async function attack(context: ScenarioContext, { rounds, seconds }: Extent): Promise<void> {
  const { port, ready: crowd } = await startPrepared(context, {}, createPopulation)
  const victims = await Victims.open(port, CONNECTIONS, gifts(crowd))
  context.teardown(async () => victims.close())
  const loadProcess = new HelperProcess(new URL('../noisy-neighbour/load-process.ts', import.meta.url), {})
  context.teardown(() => loadProcess.stop())
  await victims.run(PER_SECOND, seconds)
  const flood = (requests: readonly Buffer[]): Job => ({
    kind: 'beyond',
    port,
    requests: requests.map((request) => request.toString('latin1')),
    from: STRANGE,
    closed: FLOODING,
    pipelined: 0,
    seconds,
  })
  const open = (path: string): Buffer =>
    bytesOf({ method: 'GET', path, headers: [jsonType, ['Accept-Encoding', 'gzip']], body: null })
  const floods: Readonly<Record<string, Job>> = {
    'bad tokens': flood([bytesOf(jsonRequest('GET', '/v1/wallet', 'nonsense'))]),
    '/docs/json': flood([open('/docs/json')]),
    "the documents' page": flood([open('/docs/static/swagger-ui-bundle.js')]),
    '/healthz': flood([open('/healthz')]),
  }
  for (const [name, job] of Object.entries(floods)) {
    const alone: Latencies[] = []
    const underLoad: Latencies[] = []
    let responseCounts: ResponseCounts = {}
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await victims.run(PER_SECOND, seconds))
      const load = loadProcess.call(job, ResponseCounts)
      underLoad.push(await victims.run(PER_SECOND, seconds))
      responseCounts = await load
    }
    judge(context, name, p99Of(alone), p99Of(underLoad), responseCounts)
  }
  await sharedAddress(context, port, crowd.victims[0] ?? 0)
  await crowdOut(context, `http://127.0.0.1:${port}`, crowd.receivers)
  await needlessFrames(context, `http://127.0.0.1:${port}`, crowd.receivers)
}

const p99Of = (latencies: readonly Latencies[]): number => median(latencies.map(({ p99 }) => p99))

function judge(
  context: ScenarioContext,
  name: string,
  alone: number,
  underLoad: number,
  responseCounts: ResponseCounts,
): void {
  context.report(
    `during ${name}: p99 ${alone.toFixed(1)} ms alone, ${underLoad.toFixed(1)} ms; answers to strangers ${JSON.stringify(responseCounts)}`,
  )
  const holds = underLoad <= MAX_GROWTH * alone || underLoad - alone <= NOISE_MS
  context.expect(
    holds,
    `a flood of ${name} brings the p99 of others from ${alone.toFixed(0)} to ${underLoad.toFixed(0)} ms`,
  )
  // Balancers ask for health without a token.
  if (name === '/healthz') return
  context.expect(
    (responseCounts['429'] ?? 0) > 0,
    `a flood of ${name} is not limited: ${JSON.stringify(responseCounts)}`,
  )
}

/** A request with a good token is served from an address whose allowance is used up, and so is `app-status`. */
async function sharedAddress(context: ScenarioContext, port: number, user: number): Promise<void> {
  const connection = new HttpConnection(port, STRANGE)
  const wallet = await connection.send(bytesOf(jsonRequest('GET', '/v1/wallet', tokenOf(user))))
  context.expect(wallet.status === 200, `a good token from a used-up address was answered ${wallet.status}`)
  const status = await connection.send(
    bytesOf({ method: 'GET', path: '/v1/app-status', headers: [jsonType], body: null }),
  )
  context.expect(status.status === 200, `app-status from a used-up address was answered ${status.status}`)
  await connection.close()
}

async function crowdOut(context: ScenarioContext, origin: string, users: readonly number[]): Promise<void> {
  const crowd = Array.from({ length: STRANGERS }, () => new RecordingClient(origin, { localAddress: '127.0.0.3' }))
  context.teardown(async () => void (await Promise.all(crowd.map((client) => client.close()))))
  await waitFor(context, () => crowd.every(({ isSettled }) => isSettled), PATIENCE_MS * 4)
  const kept = crowd.filter(({ isOpen }) => isOpen).length
  const known = users.slice(0, ADMITTED).map((user) => new RecordingClient(origin, { token: tokenOf(user) }))
  // A browser has no header to put a token in: it shows it in its first frame, from an address of its own.
  const browser = new RecordingClient(origin, { localAddress: '127.0.0.4' })
  context.teardown(async () => void (await Promise.all([...known, browser].map((client) => client.close()))))
  await waitFor(context, () => browser.isSettled, PATIENCE_MS)
  browser.send(JSON.stringify({ t: 'auth', token: tokenOf(users[ADMITTED] ?? 0) }))
  const isReady = ({ frames }: RecordingClient): boolean => frames.some((text) => text.includes('"t":"ready"'))
  await waitFor(context, () => [...known, browser].every(isReady), PATIENCE_MS)
  const out = known.filter((client) => !isReady(client))
  const { rejection, code } = out[0] ?? {}
  context.expect(
    out.length === 0,
    `next to ${STRANGERS} strangers ${out.length} sockets with tokens were refused (${rejection?.status}, ${code})`,
  )
  context.expect(
    isReady(browser),
    `next to ${STRANGERS} strangers a browser of another address was refused (${browser.rejection?.status}, ${browser.code})`,
  )
  context.report(
    `of ${STRANGERS} sockets without a token ${kept} were kept, and ${ADMITTED - out.length} of ${ADMITTED} with one got in`,
  )
  await Promise.all([...crowd, ...known, browser].map((client) => client.close()))
}

/** Frames that ask for nothing count as frames. */
async function needlessFrames(context: ScenarioContext, origin: string, users: readonly number[]): Promise<void> {
  const kinds: Readonly<Record<string, (client: RecordingClient) => void>> = {
    'unsolicited pongs': (client) => client.ws.pong(),
    pings: (client) => client.ws.ping(),
    'empty fragments': (client) => client.ws.send('', { fin: false }),
  }
  for (const [i, [name, send]] of Object.entries(kinds).entries()) {
    const client = new RecordingClient(origin, { token: tokenOf(users[i + 50] ?? 0) })
    await waitFor(context, () => client.frames.length > 0, PATIENCE_MS)
    for (let n = 0; n < NEEDLESS_FRAMES && client.isOpen; n += 1) send(client)
    await waitFor(context, () => client.code !== undefined, PATIENCE_MS)
    context.expect(
      client.code === TOO_FAST,
      `${NEEDLESS_FRAMES} ${name} at once: closed with ${client.code} and not ${TOO_FAST}`,
    )
    await client.close()
  }
}
