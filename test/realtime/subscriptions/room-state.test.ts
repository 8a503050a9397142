import { type Test, test } from 'tap'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createLookups, createRoomStates, slices } from '../../../src/slices.ts'
import { bearer, token } from '../../harness/app/minimal-app.ts'
import { connectAs, type Frame, startInstance, type TestClient } from '../../harness/app/realtime-instance.ts'
import { createTestExecutor, testOpening } from '../../harness/ledger/test-executor.ts'
import { recordStatements } from '../../harness/postgres/record-statements.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

type Json = ReturnType<typeof Object>

/** Users 1 to 4 with coins, members of the rooms R1 to R3. */
async function startRooms(t: Test) {
  const database = await testDatabase()
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  await runOk(genesis, testOpening)
  const assets = () => 'http://assets.test'
  const instance = await startInstance(t, database, slices, {
    lookups: createLookups(assets),
    findRoomStates: createRoomStates(assets),
  })
  const send = async (who: number | 'ann', method: string, path: string, body?: object): Promise<[number, Json]> => {
    const claims = who === 'ann' ? { sub: who, role: 'operator' } : { sub: String(who) }
    const answer = await fetch(`${instance.origin}${path}`, {
      method,
      headers: { ...bearer(token(claims)), 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return [answer.status, Object(await answer.json())]
  }
  const ask = async (...request: Parameters<typeof send>): Promise<Json> => {
    const [status, body] = await send(...request)
    if (status >= 300) throw new Error(`${JSON.stringify(request)}: ${JSON.stringify(body)}`)
    return body
  }
  const people = [1, 2, 3, 4].map((id) => ({ id, name: `User ${id}`, uid: `u${id}`, avatar: `avatars/${id}.png` }))
  await ask('ann', 'POST', '/admin/v1/users', { users: people })
  for (const { id } of people) {
    const amount = 10_000_000
    await ask('ann', 'POST', `/admin/v1/users/${id}/credits`, { currency: 'coins', amount, reason: 'test' })
  }
  for (const room of [1, 2, 3]) {
    const fields = { uid: `R${room}`, name: `Room ${room}`, owner_id: 4, cover_url: `rooms/${room}.png` }
    await ask('ann', 'PUT', `/admin/v1/rooms/${room}`, fields)
    for (const { id } of people) await ask(id, 'GET', `/v1/rooms/R${room}/join`)
  }
  return { instance, ask, send }
}

const ROOM = 'one-to-room:R1'
const GAMES = '/v1/rooms/R1/games/roulette'

/** A room's game as a client keeps it. */
interface Screen {
  readonly game: number | null
  readonly players: readonly number[]
}

const screenOf = ({ active_roulette_game: game }: Json): Screen => ({
  game: game?.id ?? null,
  players: game?.players.map(({ id }: Json) => id) ?? [],
})

/** What a client of the room shows after these frames. Throws at an event that does not fit. */
function screenAfter(frames: readonly Frame[]): Screen | undefined {
  let screen: Screen | undefined
  let position = 0
  for (const frame of frames) {
    if (frame['ch'] !== ROOM) continue
    const at = Number(frame['position'])
    if (frame.t === 'subbed' && frame['state'] !== undefined) {
      if (at < position) throw new Error(`the state is older than ${position}`)
      screen = screenOf(frame['state'])
      position = at
    }
    if (frame.t !== 'ev' || screen === undefined) continue
    if (at <= position) throw new Error(`${at} is in the state already`)
    position = at
    screen = changed(screen, frame)
  }
  return screen
}

function changed({ game, players }: Screen, frame: Frame): Screen {
  const data: Json = frame['data']
  const fits = (isTrue: boolean): void => {
    if (!isTrue) throw new Error(`${JSON.stringify(frame)} does not fit ${JSON.stringify({ game, players })}`)
  }
  switch (frame['event']) {
    case 'roulette-wheel-created':
      fits(game === null)
      return { game: data.id, players: [] }
    case 'roulette-wheel-joined':
      fits(game === data.game_id && !players.includes(data.user.id))
      return { game, players: [...players, data.user.id] }
    case 'roulette-wheel-left':
      fits(game === data.game_id && players.includes(data.user.id))
      return { game, players: players.filter((id) => id !== data.user.id) }
    default:
      fits(game === data.game_id)
      return { game: null, players: [] }
  }
}

test('states of rooms', async (all) => {
  const { instance, ask, send } = await startRooms(all)

  await all.test("a room's first screen needs one frame: the state is what GET answers", async (t) => {
    const { data: game } = await ask(1, 'POST', `${GAMES}/create`, { game_price: 50, max_players: 5, join_admin: 1 })
    await ask(2, 'POST', `${GAMES}/join/${game.id}`)
    const client = await connectAs(t, instance.origin, 3)
    client.send({ t: 'sub', i: 1, ch: ROOM, state: true })
    const subbed = await client.waitForFrame('subbed', 1)
    const { data: room } = await ask(3, 'GET', '/v1/rooms/R1')
    t.same(subbed['state'], room)
    t.match(room, {
      cover_url: 'http://assets.test/rooms/1.png',
      active_roulette_game: { id: game.id, players_count: 2 },
    })

    const chs = ['R2', 'R1', 'R9', 'R3'].map((uid) => ({ ch: `one-to-room:${uid}`, state: true }))
    const statements = recordStatements(t)
    client.send({ t: 'sub', i: 2, chs: [...chs, { ch: 'user:3', state: true }] })
    const answers = await client.waitFor(({ frames }) => {
      const found = frames.filter((frame) => frame['i'] === 2)
      return found.length === 5 ? found : undefined
    })
    t.equal(statements.filter((name) => name === 'rooms as users see them, with the position').length, 1)
    for (const uid of ['R1', 'R2', 'R3']) {
      const { data } = await ask(3, 'GET', `/v1/rooms/${uid}`)
      t.same(answers.find(({ ch }) => ch === `one-to-room:${uid}`)?.['state'], data)
    }
    t.match(
      answers.find(({ ch }) => ch === 'one-to-room:R9'),
      { t: 'err', code: 'not_room_member' },
    )
    t.notOk('state' in (answers.find(({ ch }) => ch === 'user:3') ?? {}))
    t.same(instance.log, [])
  })

  await all.test(
    'a state and the events after it give what GET answers, whatever is committed meanwhile',
    async (t) => {
      let isDone = false
      /** Plays without a pause: each operation may be refused. */
      const play = async (user: number): Promise<void> => {
        for (let n = 0; !isDone; n += 1) {
          const [, { data: game }] = await send(user, 'GET', GAMES)
          if (game === null)
            await send(user, 'POST', `${GAMES}/create`, { game_price: 1, max_players: 4, join_admin: n % 2 })
          else if (n % 7 === 6) await send(user, 'POST', `${GAMES}/finish/${game.id}`)
          else if (n % 11 === 10) await send(user, 'DELETE', `${GAMES}/${game.id}`)
          else await send(user, 'POST', `${GAMES}/${n % 3 === 2 ? 'leave' : 'join'}/${game.id}`)
        }
      }
      const players = [1, 2, 3].map(play)
      const clients: TestClient[] = []
      const watch = async (n: number): Promise<void> => {
        const client = await connectAs(t, instance.origin, 1 + (n % 4))
        clients.push(client)
        // Every other one is live before it asks for a state, and asks again.
        if (n % 2 === 1) client.send({ t: 'sub', i: 1, ch: ROOM })
        for (let i = 2; i < 7; i += 1) {
          client.send({ t: 'sub', i, ch: ROOM, state: true })
          await client.waitForFrame('subbed', i)
        }
      }
      for (let n = 0; n < 20; n += 2) await Promise.all([watch(n), watch(n + 1)])
      // There must be much to hear.
      await until(() => clients.some((client) => client.eventsOf(ROOM).length > 50))
      isDone = true
      await Promise.all(players)
      const { data: last } = await ask('ann', 'POST', '/admin/v1/roulette/purge', { older_than_minutes: 0 })
      t.ok(last)
      const { data: game } = await ask(1, 'POST', `${GAMES}/create`, { game_price: 1, max_players: 4, join_admin: 1 })
      const { data: room } = await ask(1, 'GET', '/v1/rooms/R1')
      t.same(screenOf(room), { game: game.id, players: [1] })
      for (const [n, client] of clients.entries()) {
        await client.waitFor((c) => c.eventsOf(ROOM).find(({ position }) => Number(position) > game.id))
        const answers = client.frames.filter((frame) => frame.t === 'subbed')
        t.same(screenAfter(client.frames), screenOf(room), `client ${n}`)
        // A live client hears every event once: each one follows the one before.
        const events = client.eventsOf(ROOM)
        t.ok(
          answers.every(({ resumed }) => resumed === true) &&
            events.every(({ prev }, at) => at === 0 || prev === events[at - 1]?.['position']),
          'nothing is missing between its events',
        )
      }
      t.same(instance.log, [])
    },
  )
})
