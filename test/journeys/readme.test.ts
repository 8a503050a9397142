import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import tap, { test } from 'tap'
import { until } from '../push/pushing.ts'
import { testDatabase } from '../support/postgres.ts'
import { freePort, type ServiceProcess, startService, tokenIn } from '../support/service.ts'
import { dataDir } from '../support/start.ts'

type Test = Parameters<typeof testDatabase>[0] & Parameters<typeof dataDir>[0]

// Processes start, and clients back off.
tap.setTimeout(60_000)

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
  reloads: number
}

/** The client of the README for Node, in a process of its own. */
function nodeClient(t: Test, folder: string, url: string, token: string): Ear {
  const file = join(folder, 'listen.mjs')
  writeFileSync(file, shown('node'))
  const child = spawn(process.execPath, [file, url, 'R1'], {
    env: { TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => void child.kill())
  const ear: Ear = { heard: [], reloads: 0 }
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      const [event = '', ...data] = line.split(' ')
      if (event === 'too') ear.reloads += 1
      else ear.heard.push({ event, data: JSON.parse(data.join(' ')) })
    }
  })
  return ear
}

/** The client of the README for browsers; Node's WebSocket is the browsers'. */
function browserClient(t: Test, url: string, token: string): Ear {
  const ear: Ear = { heard: [], reloads: 0 }
  let timer: NodeJS.Timeout | undefined
  let socket: WebSocket | undefined
  class Socket extends WebSocket {
    constructor(address: string) {
      super(address)
      socket = this
    }
  }
  const later = (work: () => void, ms: number) => (timer = setTimeout(work, ms))
  const listenTo: unknown = new Function('WebSocket', 'setTimeout', `${shown('browser')}; return listenTo`)(
    Socket,
    later,
  )
  if (typeof listenTo !== 'function') throw new Error('the client for browsers is no function')
  listenTo(url, 'R1', async () => token, {
    hear: ({ event, data }: Ear['heard'][number]) => ear.heard.push({ event, data }),
    reload: () => (ear.reloads += 1),
  })
  t.teardown(async () => {
    if (socket !== undefined) socket.onclose = null
    socket?.close()
    clearTimeout(timer)
  })
  return ear
}

const base = '/v1/rooms/R1/games/roulette'

async function play({ origin, output }: ServiceProcess, user: number, path: string, body?: object) {
  const answer = await fetch(`${origin}${base}/${path}`, {
    method: /^\d/.test(path) ? 'DELETE' : 'POST',
    headers: { authorization: `Bearer ${tokenIn(output(), `user ${user}`)}`, 'content-type': 'application/json' },
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
  const ears = [nodeClient(t, folder, url, token), browserClient(t, url, token)]
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
    t.equal(ear.reloads, 0)
  }
})
