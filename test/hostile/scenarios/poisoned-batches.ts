import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bearer, bytesOf, type HttpRequest, jsonRequest, jsonType } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import type { Extent, Scenario } from '../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { waitFor } from '../../harness/scenario/wait-for.ts'
import { RecordingClient } from '../../harness/websocket/websocket-client.ts'
import { startService, unlimited } from '../attack-run/target.ts'
import { createPopulation, tokenOf } from '../noisy-neighbour/population.ts'

const GOOD = 40
const PATIENCE_MS = 20_000
const ROOM = 'one-to-room:R1'

/** Names and positions that a database, a parser or a map may stumble over. */
const names = [
  '\u0000',
  'R1\u0000',
  '\ud800',
  'R1\udfff',
  'x'.repeat(7_000),
  '9'.repeat(30),
  '9223372036854775808',
  '\u202eR1',
  'R1\u0085',
  "R1' or 1=1 --",
  '{R1}',
  '__proto__',
  'e\u0301'.repeat(500),
] as const
const positions = ['-1', '9'.repeat(30), '\u0000', '1e3', '9223372036854775808'] as const
/** Names in a path, some of which are no text at all. */
const paths = [
  '%00',
  'R1%00',
  '%ed%a0%80',
  '%ff',
  '9'.repeat(30),
  '9223372036854775808',
  'x'.repeat(5_000),
  '%e2%80%ae',
] as const

/** Whether what one asks for can make what others ask for in the same moment fail. */
export const poisonedBatches: Scenario = {
  name: 'poisoned-batches',
  about: `hostile members in batches of ${GOOD} good ones, on sockets and over HTTP`,
  full: { rounds: 3, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  run: poison,
}

async function poison(context: ScenarioContext, { rounds }: Extent): Promise<void> {
  const { port } = await startService(context, unlimited)
  const { victims, receivers } = await createPopulation(port)
  const good = victims.slice(0, GOOD)
  const [bad = 0] = receivers
  const connection = new HttpConnection(port)
  for (const id of [...good, bad]) await connection.send(bytesOf(jsonRequest('GET', '/v1/rooms/R1/join', tokenOf(id))))
  await connection.close()
  await amongSockets(context, port, good, bad, rounds)
  await amongRequests(context, port, good, bad, rounds)
}

async function amongSockets(
  context: ScenarioContext,
  port: number,
  good: readonly number[],
  bad: number,
  rounds: number,
) {
  const open = (user: number): RecordingClient => {
    const client = new RecordingClient(`http://127.0.0.1:${port}`, { token: tokenOf(user) })
    context.teardown(() => client.close())
    return client
  }
  const clients = good.map(open)
  let poisoner = open(bad)
  const ready = await waitFor(context, () => [...clients, poisoner].every(isReady), PATIENCE_MS)
  context.expect(ready, 'sockets did not get ready')
  const frames = [
    ...names.map((name) => ({ ch: `one-to-room:${name}` })),
    ...names.map((name) => ({ ch: `user:${name}` })),
    ...names.map((name) => ({ ch: name })),
    ...positions.map((since) => ({ ch: ROOM, since })),
  ]
  let asked = 0
  for (let round = 0; round < rounds; round += 1) {
    for (const [n, hostile] of frames.entries()) {
      if (!poisoner.isOpen) {
        poisoner = open(bad)
        await waitFor(context, () => isReady(poisoner), PATIENCE_MS)
      }
      asked += 1
      const i = asked
      // All in one turn of the event loop, the hostile one in their midst.
      for (const [place, client] of clients.entries()) {
        if (place === GOOD / 2) send(poisoner, JSON.stringify({ t: 'sub', i, ...hostile }))
        send(client, JSON.stringify({ t: 'sub', i, ch: ROOM }))
      }
      const answered = await waitFor(context, () => clients.every((client) => isAnswered(client, i)), PATIENCE_MS)
      const closed = clients.filter(({ isOpen }) => !isOpen)
      const failed = clients.filter((client) => client.frames.some((text) => text.includes('"t":"err"')))
      const what = `next to ${JSON.stringify({ t: 'sub', ...hostile }).slice(0, 80)}`
      context.expect(closed.length === 0, `${what} ${closed.length} others were closed with ${closed[0]?.code}`)
      context.expect(answered, `${what} others were not answered`)
      context.expect(failed.length === 0, `${what} ${failed.length} others received ${failed[0]?.frames.at(-1)}`)
      if (closed.length > 0) return
      for (const client of clients) {
        client.frames.length = 0
        send(client, JSON.stringify({ t: 'unsub', i: -i, ch: ROOM }))
      }
      // Twenty frames a second are allowed.
      if (n % 4 === 0) await context.pause(500)
    }
  }
  context.report(`${asked} hostile subscriptions next to ${GOOD} good ones`)
}

/** One that was closed meanwhile is noticed afterwards. */
const send = (client: RecordingClient, text: string): void => {
  if (client.isOpen) client.send(text)
}

const isReady = ({ frames, isOpen }: RecordingClient): boolean =>
  isOpen && frames.some((text) => text.includes('"t":"ready"'))
const isAnswered = ({ frames, isOpen }: RecordingClient, i: number): boolean =>
  !isOpen || frames.some((text) => text.includes(`"i":${i},`) || text.includes(`"i":${i}}`))

async function amongRequests(
  context: ScenarioContext,
  port: number,
  good: readonly number[],
  bad: number,
  rounds: number,
) {
  const lines = good.map(() => new HttpConnection(port))
  const poisoned = new HttpConnection(port)
  const goodPaths = ['/v1/wallet', '/v1/rooms/R1', '/v1/fairness/lucky/draws?limit=5', '/v1/bag']
  const as = (user: number, path: string): HttpRequest => ({
    method: 'GET',
    path,
    headers: [bearer(tokenOf(user)), jsonType],
    body: null,
  })
  const kinds = [
    (name: string) => `/v1/rooms/${name}`,
    (name: string) => `/v1/rooms/${name}/games/roulette`,
    (name: string) => `/v1/rooms/R1/games/roulette/${name}`,
    (name: string) => `/v1/fairness/lucky/draws?cursor=${name}`,
    (name: string) => `/v1/agency/target-withdraw-requests?cursor=${name}`,
  ]
  let asked = 0
  for (let round = 0; round < rounds; round += 1) {
    for (const name of paths) {
      for (const kind of kinds) {
        asked += 1
        const path = kind(name)
        const hostile = poisoned.send(bytesOf(as(bad, path)))
        const others = lines.map((connection, i) =>
          connection.send(bytesOf(as(good[i] ?? 0, goodPaths[asked % goodPaths.length] ?? '/v1/wallet'))),
        )
        const answers = await Promise.all(others)
        const failed = answers.filter(({ status }: HttpResponse) => status !== 200)
        context.expect(
          failed.length === 0,
          `next to GET ${path.slice(0, 80)} ${failed.length} others were answered ${failed[0]?.status}`,
        )
        const { status } = await hostile
        context.expect(status < 500, `GET ${path.slice(0, 80)} was answered ${status}`)
      }
    }
  }
  await Promise.all([...lines, poisoned].map((connection) => connection.close()))
  context.report(`${asked} hostile requests next to ${GOOD} good ones`)
}
