import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { freePort, type ServiceProcess, startService, tokenIn } from '../harness/process/service.ts'
import { dataDir } from '../harness/process/start-options.ts'
import { until } from '../harness/until.ts'

type Test = Parameters<typeof testDatabase>[0] & Parameters<typeof dataDir>[0]

const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')

/** The code that the README shows for this kind of client. */
function shown(kind: string): string {
  const code = new RegExp(`^\`\`\`js ${kind}\\n(.*?)^\`\`\`$`, 'ms').exec(readme)?.[1]
  if (code === undefined) throw new Error(`the README shows no client for ${kind}`)
  return code
}

interface Ear {
  /** Names of events, with the data that came with each. */
  readonly heard: { readonly event: string; readonly data: unknown }[]
  /** Whatever else was printed. */
  readonly others: string[]
}

/** For browsers the README shows a function; Node's WebSocket is the browsers'. */
const callsIt = `
const [url, room] = process.argv.slice(2)
listenTo(url, room, async () => process.env.TOKEN, {
  hear: ({ event, data }) => console.log(event, JSON.stringify(data)),
  reload: () => console.log('reload'),
})`

/** A client of the README in a process of its own. */
function startClient(t: Test, folder: string, kind: 'node' | 'browser', url: string, token: string): Ear {
  const file = join(folder, `${kind}.mjs`)
  writeFileSync(file, kind === 'browser' ? shown(kind) + callsIt : shown(kind))
  const child = spawn(process.execPath, [file, url, 'R1'], {
    env: { TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => void child.kill())
  const ear: Ear = { heard: [], others: [] }
  createInterface(child.stdout).on('line', (line) => {
    const [, event, data] = /^(\S+) (\{.*\})$/.exec(line) ?? []
    if (event === undefined || data === undefined) ear.others.push(line)
    else ear.heard.push({ event, data: JSON.parse(data) })
  })
  return ear
}

const base = '/v1/rooms/R1/games/roulette'

async function play(service: ServiceProcess, user: number, path: string, body?: object) {
  const answer = await fetch(`${service.origin}${base}/${path}`, {
    method: /^\d/.test(path) ? 'DELETE' : 'POST',
    headers: {
      authorization: `Bearer ${tokenIn(service.output(), `user ${user}`)}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const heard = Object(await answer.json())
  if (!answer.ok) throw new Error(JSON.stringify(heard))
  return heard.data
}

test('the clients of the README hear a game, also what happened while their instance was away', async (t) => {
  const database = await testDatabase(t)
  const folder = dataDir(t)
  const environment = { DATABASE_URL: database.serviceUrl, DATA_DIR: folder }
  const port = await freePort()
  const first = await startService(t, environment, port)
  const other = await startService(t, environment, await freePort())
  const url = `ws://127.0.0.1:${port}/ws`
  const token = tokenIn(first.output(), 'user 2')
  const ears = (['node', 'browser'] as const).map((kind) => startClient(t, folder, kind, url, token))
  // Until both listen.
  while (!ears.every(({ heard }) => heard.length > 0)) {
    const { id } = await play(other, 1, 'create', { game_price: 10, max_players: 3 })
    await play(other, 1, String(id))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  const game = await play(other, 1, 'create', { game_price: 10, max_players: 3, join_admin: 1 })
  const ofGame = ({ heard }: Ear) =>
    heard.filter(({ data }) => [Object(data).id, Object(data).game_id].includes(game.id))
  const hear = (events: number) => until(() => ears.every((ear) => ofGame(ear).length >= events))
  await hear(2)

  first.kill('SIGTERM')
  t.equal(await first.exited, 0)
  await play(other, 2, `join/${game.id}`)
  await play(other, 2, `leave/${game.id}`)
  await play(other, 2, `join/${game.id}`)
  await startService(t, environment, port)
  await hear(5)
  const { winner, losers } = await play(other, 2, `finish/${game.id}`)
  await hear(6)

  const person = (id: number, name: string) => ({ id, name, avatar: `avatars/${name.toLowerCase()}.png` })
  const [amina, badr] = [person(1, 'Amina'), person(2, 'Badr')]
  const { id: game_id, game_price, prize, max_players, from, created_at } = game
  const less = ({ id, name, avatar }: typeof amina) => ({ id, name, avatar })
  for (const ear of ears) {
    t.same(ofGame(ear), [
      { event: 'roulette-wheel-created', data: { id: game_id, game_price, prize, max_players, from, created_at } },
      { event: 'roulette-wheel-joined', data: { game_id, user: amina } },
      { event: 'roulette-wheel-joined', data: { game_id, user: badr } },
      { event: 'roulette-wheel-left', data: { game_id, user: badr } },
      { event: 'roulette-wheel-joined', data: { game_id, user: badr } },
      {
        event: 'roulette-wheel-finished',
        data: { game_id, winner: less(winner), prize: 20, losers: losers.map(less) },
      },
    ])
    t.same(ear.others, [])
  }
})
