import { test } from 'tap'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { reservePort } from '../../harness/process/reserve-port.ts'
import { type ServiceProcess, startService, tokenIn } from '../../harness/process/service.ts'
import { until } from '../../harness/until.ts'
import { kotlinIsMissing } from './kotlin-client.ts'
import { type RoomClientProcess, startRoomClient } from './room-client-process.ts'

const base = '/v1/rooms/R1/games/roulette'

async function play(service: Pick<ServiceProcess, 'origin' | 'output'>, user: number, path: string, body?: object) {
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

const gameEventsOf = (client: RoomClientProcess) => client.eventsOf('one-to-room:R1')

const title = 'the documented clients receive all events of a game, also those during an outage of their instance'

test(title, { skip: onlyInFullRun }, async (t) => {
  const database = await testDatabase()
  const environment = { DATABASE_URL: database.serviceUrl, DATA_DIR: temporaryFolder(t) }
  const port = await reservePort()
  const first = await startService(t, environment, port)
  const second = await startService(t, environment)
  const url = `ws://127.0.0.1:${port}/ws`
  const token = tokenIn(first.output(), 'user 2')
  const kinds = ['node', 'browser', ...(kotlinIsMissing === false ? (['kotlin'] as const) : [])] as const
  const clients = kinds.map((kind) => startRoomClient(t, kind, { url, token, rooms: ['R1'], speed: 10 }))
  // Until both listen.
  while (!clients.every((client) => gameEventsOf(client).length > 0)) {
    const { id } = await play(second, 1, 'create', { game_price: 10, max_players: 3 })
    await play(second, 1, String(id))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  const game = await play(second, 1, 'create', { game_price: 10, max_players: 3, join_admin: 1 })
  const ofGame = (client: RoomClientProcess) =>
    gameEventsOf(client).filter(({ data }) => [Object(data).id, Object(data).game_id].includes(game.id))
  const receive = (events: number) => until(() => clients.every((client) => ofGame(client).length >= events))
  await receive(2)

  first.kill('SIGTERM')
  t.equal(await first.exited, 0)
  await play(second, 2, `join/${game.id}`)
  await play(second, 2, `leave/${game.id}`)
  await play(second, 2, `join/${game.id}`)
  await startService(t, environment, port)
  await receive(5)
  const { winner, losers } = await play(second, 2, `finish/${game.id}`)
  await receive(6)

  const person = (id: number, name: string) => ({ id, name, avatar: `avatars/${name.toLowerCase()}.svg` })
  const [amina, badr] = [person(1, 'Amina'), person(2, 'Badr')]
  const { id: game_id, game_price, prize, max_players, created_at } = game
  const from = { ...amina, uid: 'amina' }
  const short = ({ id, name, avatar }: typeof amina) => ({ id, name, avatar })
  for (const client of clients) {
    t.same(ofGame(client), [
      { what: 'roulette-wheel-created', data: { id: game_id, game_price, prize, max_players, from, created_at } },
      { what: 'roulette-wheel-joined', data: { game_id, user: amina } },
      { what: 'roulette-wheel-joined', data: { game_id, user: badr } },
      { what: 'roulette-wheel-left', data: { game_id, user: badr } },
      { what: 'roulette-wheel-joined', data: { game_id, user: badr } },
      {
        what: 'roulette-wheel-finished',
        data: { game_id, winner: short(winner), prize: 20, losers: losers.map(short) },
      },
    ])
    t.notOk(client.lines.some(({ what }) => ['reload', 'stopped'].includes(what)))
  }
})
