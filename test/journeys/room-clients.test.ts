import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'tap'
import { freePort } from '../../src/db/cluster/free-port.ts'
import { blocksOf, readDocument } from '../harness/documents/documents.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { type ServiceProcess, startService, tokenIn } from '../harness/process/service.ts'
import { dataDir } from '../harness/process/start-options.ts'
import { until } from '../harness/until.ts'

type Test = Parameters<typeof testDatabase>[0] & Parameters<typeof dataDir>[0]

const DOCUMENT = 'src/realtime/clients.md'

/** The document's code for this kind of client. */
function documentedClient(kind: string): string {
  const block = blocksOf(readDocument(DOCUMENT)).find(({ language }) => language === `js ${kind}`)
  if (block === undefined) throw new Error(`${DOCUMENT} shows no client for ${kind}`)
  return block.lines.join('\n')
}

interface DocumentedClient {
  /** Names of received events, with their data. */
  readonly received: { readonly event: string; readonly data: unknown }[]
  /** Whatever else was printed. */
  readonly others: string[]
}

/** For browsers the documents show a function; Node's WebSocket is the browsers'. */
const callsFunction = `
const [url, room] = process.argv.slice(2)
listenTo(url, room, async () => process.env.TOKEN, {
  onEvent: ({ event, data }) => console.log(event, JSON.stringify(data)),
  reload: () => console.log('reload'),
})`

/** A documented client in a process of its own. */
function startClient(t: Test, folder: string, kind: 'node' | 'browser', url: string, token: string): DocumentedClient {
  const file = join(folder, `${kind}.mjs`)
  writeFileSync(file, kind === 'browser' ? documentedClient(kind) + callsFunction : documentedClient(kind))
  const child = spawn(process.execPath, [file, url, 'R1'], {
    env: { TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => void child.kill())
  const client: DocumentedClient = { received: [], others: [] }
  createInterface(child.stdout).on('line', (line) => {
    const [, event, data] = /^(\S+) (\{.*\})$/.exec(line) ?? []
    if (event === undefined || data === undefined) client.others.push(line)
    else client.received.push({ event, data: JSON.parse(data) })
  })
  return client
}

const base = '/v1/rooms/R1/games/roulette'

async function play(service: ServiceProcess, user: number, path: string, body?: object) {
  const response = await fetch(`${service.origin}${base}/${path}`, {
    method: /^\d/.test(path) ? 'DELETE' : 'POST',
    headers: {
      authorization: `Bearer ${tokenIn(service.output(), `user ${user}`)}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const result = Object(await response.json())
  if (!response.ok) throw new Error(JSON.stringify(result))
  return result.data
}

test('the documented clients receive all events of a game, also those during an outage of their instance', async (t) => {
  const database = await testDatabase(t)
  const folder = dataDir(t)
  const environment = { DATABASE_URL: database.serviceUrl, DATA_DIR: folder }
  const port = await freePort()
  const first = await startService(t, environment, port)
  const other = await startService(t, environment, await freePort())
  const url = `ws://127.0.0.1:${port}/ws`
  const token = tokenIn(first.output(), 'user 2')
  const clients = (['node', 'browser'] as const).map((kind) => startClient(t, folder, kind, url, token))
  // Until both listen.
  while (!clients.every(({ received }) => received.length > 0)) {
    const { id } = await play(other, 1, 'create', { game_price: 10, max_players: 3 })
    await play(other, 1, String(id))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  const game = await play(other, 1, 'create', { game_price: 10, max_players: 3, join_admin: 1 })
  const ofGame = ({ received }: DocumentedClient) =>
    received.filter(({ data }) => [Object(data).id, Object(data).game_id].includes(game.id))
  const receive = (events: number) => until(() => clients.every((client) => ofGame(client).length >= events))
  await receive(2)

  first.kill('SIGTERM')
  t.equal(await first.exited, 0)
  await play(other, 2, `join/${game.id}`)
  await play(other, 2, `leave/${game.id}`)
  await play(other, 2, `join/${game.id}`)
  await startService(t, environment, port)
  await receive(5)
  const { winner, losers } = await play(other, 2, `finish/${game.id}`)
  await receive(6)

  const person = (id: number, name: string) => ({ id, name, avatar: `avatars/${name.toLowerCase()}.png` })
  const [amina, badr] = [person(1, 'Amina'), person(2, 'Badr')]
  const { id: game_id, game_price, prize, max_players, from, created_at } = game
  const short = ({ id, name, avatar }: typeof amina) => ({ id, name, avatar })
  for (const client of clients) {
    t.same(ofGame(client), [
      { event: 'roulette-wheel-created', data: { id: game_id, game_price, prize, max_players, from, created_at } },
      { event: 'roulette-wheel-joined', data: { game_id, user: amina } },
      { event: 'roulette-wheel-joined', data: { game_id, user: badr } },
      { event: 'roulette-wheel-left', data: { game_id, user: badr } },
      { event: 'roulette-wheel-joined', data: { game_id, user: badr } },
      {
        event: 'roulette-wheel-finished',
        data: { game_id, winner: short(winner), prize: 20, losers: losers.map(short) },
      },
    ])
    t.same(client.others, [])
  }
})
