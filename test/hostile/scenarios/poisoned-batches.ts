import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import type { Scenario, ScenarioContext } from '../../harness/scenario/scenario.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { userToken } from '../callers.ts'
import { hostileNames } from '../hostile-values.ts'
import { createPopulation, enterRoom } from '../population.ts'
import { startTarget } from '../target.ts'

const GOOD = 40
const TIMEOUT_MS = 20_000
const ROOM = 'one-to-room:R1'

/** Names and positions that a database, a parser or a map may stumble over. */
const names = [
  ['\u0000', 'R1\u0000', '\ud800', 'R1\udfff', '\u202eR1', 'R1\u0085', "R1' or 1=1 --", '{R1}', '__proto__'],
  ['9223372036854775808', '9'.repeat(30), 'x'.repeat(7_000), 'e\u0301'.repeat(500)],
].flat()
const positions = ['-1', '9'.repeat(30), '\u0000', '1e3', '9223372036854775808']

/** Whether one request can make others fail that share a query with it. */
export const poisonedBatches: Scenario = {
  name: 'poisoned-batches',
  about: `hostile members in batches of ${GOOD} good ones, on sockets and over HTTP`,
  full: { rounds: 3, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  async run(context, { rounds }) {
    const { port } = await startTarget(context)
    const { victims, receivers } = await createPopulation(port)
    const good = victims.slice(0, GOOD)
    const [bad = 0] = receivers
    await enterRoom(port, [...good, bad])
    await amongSockets(context, { port, good, bad, rounds })
    await amongRequests(context, { port, good, bad, rounds })
  },
}

interface Batch {
  readonly port: number
  /** Users whose requests share queries with those of the bad one. */
  readonly good: readonly number[]
  readonly bad: number
  readonly rounds: number
}

async function amongSockets(context: ScenarioContext, { port, good, bad, rounds }: Batch): Promise<void> {
  const open = (user: number): WebSocketClient => {
    const options = { token: userToken(user), keepsFrames: true }
    const client = new WebSocketClient(`http://127.0.0.1:${port}`, options)
    context.teardown(() => client.close())
    return client
  }
  const clients = good.map(open)
  let poisoner = open(bad)
  const areReady = await context.waitFor(() => [...clients, poisoner].every(isReady), TIMEOUT_MS)
  context.expect(areReady, 'sockets did not get ready')
  const frames = [
    ...names.flatMap((name) => [`one-to-room:${name}`, `user:${name}`, name].map((ch) => ({ ch }))),
    ...positions.map((since) => ({ ch: ROOM, since })),
  ]
  let i = 0
  for (let round = 0; round < rounds; round += 1) {
    for (const hostile of frames) {
      if (!poisoner.isOpen) {
        poisoner = open(bad)
        await context.waitFor(() => isReady(poisoner), TIMEOUT_MS)
      }
      i += 1
      // All in one turn of the event loop, with the hostile one in the middle.
      for (const [place, client] of clients.entries()) {
        if (place === GOOD / 2) poisoner.send({ t: 'sub', i, ...hostile })
        client.send({ t: 'sub', i, ch: ROOM })
      }
      const what = `next to ${JSON.stringify(hostile).slice(0, 80)}`
      const isAnswered = (client: WebSocketClient): boolean => client.frames.some((frame) => frame['i'] === i)
      const areAnswered = (): boolean => clients.every((client) => !client.isOpen || isAnswered(client))
      context.expect(await context.waitFor(areAnswered, TIMEOUT_MS), `${what} others were not answered`)
      const closed = clients.find(({ isOpen }) => !isOpen)
      context.expect(closed === undefined, `${what} others were closed with ${closed?.code}`)
      const errors = clients.flatMap((client) => client.frames.filter(({ t }) => t === 'err'))
      context.expect(errors.length === 0, `${what} others received ${JSON.stringify(errors[0])}`)
      if (closed !== undefined) return
      for (const client of clients) {
        client.frames.length = 0
        client.send({ t: 'unsub', i: -i, ch: ROOM })
      }
      // Twenty frames a second are allowed.
      if (i % 4 === 0) await context.pause(500)
    }
  }
  context.report(`${i} hostile subscriptions next to ${GOOD} good ones`)
}

const isReady = ({ frames, isOpen }: WebSocketClient): boolean => isOpen && frames.some(({ t }) => t === 'ready')

async function amongRequests(context: ScenarioContext, { port, good, bad, rounds }: Batch): Promise<void> {
  const connections = good.map((user) => ({ user, connection: new HttpConnection(port) }))
  const poisoned = new HttpConnection(port)
  const get = (user: number, path: string): Buffer => bytesOf(jsonRequest('GET', path, userToken(user)))
  const goodPaths = ['/v1/wallet', '/v1/rooms/R1', '/v1/fairness/lucky/draws?limit=5', '/v1/bag']
  const places = [
    (name: string) => `/v1/rooms/${name}`,
    (name: string) => `/v1/rooms/${name}/games/roulette`,
    (name: string) => `/v1/rooms/R1/games/roulette/${name}`,
    (name: string) => `/v1/fairness/lucky/draws?cursor=${name}`,
    (name: string) => `/v1/agency/target-withdraw-requests?cursor=${name}`,
  ]
  const paths = Array.from({ length: rounds }, () =>
    hostileNames.flatMap((name) => places.map((at) => at(name))),
  ).flat()
  for (const [i, path] of paths.entries()) {
    const hostile = poisoned.send(get(bad, path))
    const goodPath = goodPaths[i % goodPaths.length] ?? '/v1/wallet'
    const answers = await Promise.all(connections.map(({ user, connection }) => connection.send(get(user, goodPath))))
    const failed = answers.find(({ status }) => status !== 200)
    const what = `GET ${path.slice(0, 80)}`
    context.expect(failed === undefined, `next to ${what} others were answered ${failed?.status}`)
    const { status } = await hostile
    context.expect(status < 500, `${what} was answered ${status}`)
  }
  await Promise.all([poisoned, ...connections.map(({ connection }) => connection)].map((one) => one.close()))
  context.report(`${paths.length} hostile requests next to ${GOOD} good ones`)
}
