import { type Test, test } from 'tap'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { createLookups, slices } from '../../src/slices.ts'
import { bearer, token } from '../harness/app/minimal-app.ts'
import {
  connectAs,
  type Frame,
  startInstance,
  type TestClient,
  type TestInstance,
} from '../harness/app/realtime-instance.ts'
import { createTestExecutor, testOpening } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'

interface RoomSetup {
  readonly database: TestDatabase
  readonly instance: TestInstance
  readonly ask: (who: number | 'ann', method: string, path: string, body?: object) => Promise<ReturnType<typeof Object>>
}

/** Users 1 to 4 with coins and diamonds; rooms R1 to R4, whose members are 1 to 3; gifts of which some orders win. */
async function roomSetup(t: Test): Promise<RoomSetup> {
  const database = await testDatabase()
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  await runOk(genesis, testOpening)
  const instance = await startInstance(t, database, slices, { lookups: createLookups(() => 'http://assets.test') })
  const ask: RoomSetup['ask'] = async (who, method, path, body) => {
    const claims = who === 'ann' ? { sub: who, role: 'operator' } : { sub: String(who) }
    const answer = await fetch(`${instance.origin}${path}`, {
      method,
      headers: { ...bearer(token(claims)), 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const responseBody = Object(await answer.json())
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(responseBody)}`)
    return responseBody
  }
  const people = ['Amina', 'Badr', 'Carmen', 'Dana'].map((name, i) => ({
    id: i + 1,
    name,
    uid: name.toLowerCase(),
    avatar: `avatars/${i + 1}.png`,
  }))
  await ask('ann', 'POST', '/admin/v1/users', { users: people })
  const rooms = [1, 2, 3, 4]
  for (const id of rooms)
    await ask('ann', 'PUT', `/admin/v1/rooms/${id}`, { uid: `R${id}`, name: 'Lounge', owner_id: 3 })
  const odds = (multiplier: number) => [
    { multiplier: 0, weight: multiplier * 2 - 1 },
    { multiplier, weight: 1 },
  ]
  for (const [id, name, multiplier] of [
    [1, 'Clover', 1],
    [2, 'Star', 2],
  ] as const) {
    const image_path = `gifts/${name.toLowerCase()}.png`
    const gift = { name, kind: 'lucky', price: 100, image_path, odds: odds(multiplier) }
    await ask('ann', 'PUT', `/admin/v1/decorations/${id}`, gift)
  }
  for (const { id } of people) {
    for (const currency of ['coins', 'diamonds']) {
      const amount = 10_000_000
      await ask('ann', 'POST', `/admin/v1/users/${id}/credits`, { currency, amount, reason: 'test' })
    }
    if (id < 4) for (const room of rooms) await ask(id, 'GET', `/v1/rooms/R${room}/join`)
  }
  return { database, instance, ask }
}

async function member(t: Test, { origin }: TestInstance, id: number, ch: string): Promise<TestClient> {
  const client = await connectAs(t, origin, id)
  client.send({ t: 'sub', i: 1, ch })
  await client.waitForFrame('subbed', 1)
  return client
}

/** Waits for `count` frames of a channel's history. */
const framesOf = (client: TestClient, channel: string, count: number): Promise<Frame[]> =>
  client.waitFor(
    () => (client.eventsOf(channel).length >= count ? client.eventsOf(channel) : undefined),
    `${count} of ${channel}`,
  )

/** Waits until the newest state of a user has this value; returns its frame. */
const latestState = (client: TestClient, field: string, value: unknown): Promise<Frame> =>
  client.waitFor(
    ({ frames }) => {
      const frame = frames.findLast(({ event }) => event === 'wallet-changed')
      return frame !== undefined && Object(frame['data'])[field] === value ? frame : undefined
    },
    `${field} of ${String(value)}`,
  )

const facts = (frames: readonly Frame[]) => frames.map(({ event, data }) => ({ event, data }))

test('what members and users receive', async (all) => {
  const { ask, instance, database } = await roomSetup(all)

  await all.test('members of a room receive the frames of its games, other users do not', async (t) => {
    const ROOM = 'one-to-room:R1'
    const watching = await member(t, instance, 3, ROOM)
    const outsider = await connectAs(t, instance.origin, 4)
    outsider.send({ t: 'sub', i: 1, ch: ROOM })
    t.match(await outsider.waitForFrame('err', 1), { code: 'not_room_member' })

    const base = '/v1/rooms/R1/games/roulette'
    const { data: game } = await ask(1, 'POST', `${base}/create`, { game_price: 50, max_players: 3, join_admin: 1 })
    await ask(2, 'POST', `${base}/join/${game.id}`)
    await ask(2, 'POST', `${base}/leave/${game.id}`)
    await ask(2, 'POST', `${base}/join/${game.id}`)
    const { data: finished } = await ask(2, 'POST', `${base}/finish/${game.id}`)
    const { data: second } = await ask(2, 'POST', `${base}/create`, { game_price: 50, max_players: 2 })
    await ask(2, 'DELETE', `${base}/${second.id}`)
    const { data: third } = await ask(1, 'POST', `${base}/create`, { game_price: 50, max_players: 2, join_admin: 1 })
    await ask('ann', 'POST', '/admin/v1/roulette/purge', { older_than_minutes: 0 })

    // The last game may be destroyed already.
    const frames = (await framesOf(watching, ROOM, 10)).slice(0, 10)
    const amina = { id: 1, name: 'Amina', avatar: 'avatars/1.png' }
    const badr = { id: 2, name: 'Badr', avatar: 'avatars/2.png' }
    const player = ({ id }: { id: number }) => (id === 1 ? amina : badr)
    const created = ({ id, game_price, prize, max_players, from, created_at }: ReturnType<typeof Object>) => {
      const { avatar_url, ...creator } = from
      t.match(avatar_url, `/${creator.avatar}`)
      return {
        event: 'roulette-wheel-created',
        data: { id, game_price, prize, max_players, from: creator, created_at },
      }
    }
    const joined = (game_id: number, user: object) => ({ event: 'roulette-wheel-joined', data: { game_id, user } })
    t.same(facts(frames), [
      created(game),
      joined(game.id, amina),
      joined(game.id, badr),
      { event: 'roulette-wheel-left', data: { game_id: game.id, user: badr } },
      joined(game.id, badr),
      {
        event: 'roulette-wheel-finished',
        data: {
          game_id: game.id,
          winner: player(finished.winner),
          prize: 100,
          losers: finished.losers.map(player),
        },
      },
      created(second),
      { event: 'roulette-wheel-destroyed', data: { game_id: second.id } },
      created(third),
      joined(third.id, amina),
    ])
    const eleventh = (await framesOf(watching, ROOM, 11))[10]
    t.match(eleventh, { event: 'roulette-wheel-destroyed', data: { game_id: third.id } })
    let prev: unknown = null
    for (const frame of watching.eventsOf(ROOM)) {
      t.equal(frame['prev'], prev, 'none is missing')
      prev = frame['position']
    }
    t.same(outsider.eventsOf(ROOM), [])
  })

  await all.test('big wins are sent to the room and to everyone, and wallets are pushed', async (t) => {
    const ROOM = 'one-to-room:R2'
    const [sender, receiver, outsider] = [
      await member(t, instance, 1, ROOM),
      await member(t, instance, 2, ROOM),
      await connectAs(t, instance.origin, 4),
    ]
    /** Sends until an order wins; returns the response to the winning send. */
    const win = async (decoration_id: number, quantity: number, others: object = {}) => {
      for (;;) {
        const send = { u_id: 1, decoration_id, user_id: [2, 3], quantity, room_id: 'R2', ...others }
        const { data } = await ask(1, 'POST', '/v1/instant-send', send)
        const { OrderList } = data.lucky_result.data
        const rewards: number[] = OrderList.map(({ reward_num }: { reward_num: number }) => reward_num)
        if (rewards.some((reward) => reward > 0)) return { rewards, send: String(OrderList[0].order_id).split('-')[0] }
      }
    }
    /** The frames of a send. */
    const of = async (client: TestClient, channel: string, send: string | undefined, count: number) => {
      const received = () => client.eventsOf(channel).filter(({ position }) => position === send)
      return client.waitFor(() => (received().length >= count ? received() : undefined), `${count} frames of ${send}`)
    }

    const small = await win(1, 49)
    t.match(await of(receiver, ROOM, small.send, 1), [
      {
        event: 'one-to-room:lucky-gift-sent',
        data: {
          id: small.send,
          totalcost: 9_800,
          gift: { id: 1, name: 'Clover', image_path: 'gifts/clover.png' },
          senderid: 1,
          receiversids: ['2', '3'],
          quantity: 49,
          roomuid: 'R2',
          win: small.rewards.reduce((sum, reward) => sum + reward),
        },
      },
    ])
    const big = await win(1, 50)
    const wins = big.rewards.filter((reward) => reward > 0)
    const user = { id: 1, name: 'Amina', uid: 'amina', current_profile_image_url: 'http://assets.test/avatars/1.png' }
    const clover = { id: 1, name: 'Clover', image_path: 'gifts/clover.png' }
    t.same(
      facts(await of(receiver, ROOM, big.send, 1 + wins.length)).slice(1),
      wins.map((reward) => ({ event: 'lucky-big-win', data: { user, reward, decoration: clover } })),
    )
    t.same(outsider.eventsOf('global'), [], 'so far only the room received it')

    const huge = await win(2, 50, { with_encryption: true })
    const banners = huge.rewards.filter((reward) => reward > 0).length
    const [banner] = await of(outsider, 'global', huge.send, banners)
    t.match(banner, { event: 'lucky-big-win-all', enc: 'rot41', data: { user: { name: 'Amina' }, reward: 10_000 } })
    for (const frame of await of(receiver, ROOM, huge.send, 1 + banners)) {
      t.equal(frame['enc'], 'rot41')
      t.notMatch(JSON.stringify(frame), /gifts\/|avatars\//)
    }

    for (const [client, id] of [
      [sender, 1],
      [receiver, 2],
    ] as const) {
      const { data: wallet } = await ask(id, 'GET', '/v1/wallet')
      const changed = await latestState(
        client,
        id === 1 ? 'diamonds' : 'target',
        id === 1 ? wallet.diamonds : wallet.target,
      )
      t.same(changed['data'], wallet)
      t.equal(changed['ch'], `user:${id}`)
      t.notOk('prev' in changed)
    }
    t.notOk(outsider.frames.some(({ event }) => event === 'wallet-changed'))
  })

  await all.test('who leaves or is removed hears it on every instance, and nothing of the room after it', async (t) => {
    const ROOM = 'one-to-room:R4'
    const other = await startInstance(t, database, slices, { lookups: createLookups(() => 'http://assets.test') })
    const [here, there, staying] = [
      await member(t, instance, 2, ROOM),
      await member(t, other, 2, ROOM),
      await member(t, instance, 3, ROOM),
    ]
    const base = '/v1/rooms/R4/games/roulette'
    const { coins } = (await ask(2, 'GET', '/v1/wallet')).data
    const { data: game } = await ask(1, 'POST', `${base}/create`, { game_price: 50, max_players: 3 })
    await ask(2, 'POST', `${base}/join/${game.id}`)
    await t.rejects(ask(2, 'POST', '/v1/rooms/R4/leave'), /in_open_game/)
    t.match(await ask('ann', 'DELETE', '/admin/v1/rooms/4/members/2'), { meta: { message: String } })
    await ask(1, 'DELETE', `${base}/${game.id}`)
    await framesOf(staying, ROOM, 4)
    const unsubbed = { t: 'unsubbed', ch: ROOM, code: 'not_room_member' }
    for (const client of [here, there]) {
      const frame = await client.waitFor(({ frames }) => frames.find(({ t: type }) => type === 'unsubbed'))
      t.same(frame, unsubbed)
      t.same(
        client.eventsOf(ROOM).map(({ event }) => event),
        ['roulette-wheel-created', 'roulette-wheel-joined', 'roulette-wheel-left'],
      )
      client.send({ t: 'sub', i: 2, ch: ROOM, since: '0' })
      t.match(await client.waitForFrame('err', 2), { code: 'not_room_member', ch: ROOM })
    }
    t.equal((await ask(2, 'GET', '/v1/wallet')).data.coins, coins, 'the price was paid back')

    await ask(2, 'GET', '/v1/rooms/4/join')
    // By its id, which is no room's uid.
    here.send({ t: 'sub', i: 3, ch: 'one-to-room:4', since: '0' })
    await here.waitForFrame('subbed', 3)
    t.match(await ask(2, 'POST', '/v1/rooms/4/leave'), { meta: { message: String } })
    await here.waitFor(({ frames }) =>
      frames.find(({ ch, code }) => ch === 'one-to-room:4' && code === 'not_room_member'),
    )
    t.equal(here.eventsOf('one-to-room:4').length, 4, 'after joining again, what was missed is replayed')
    await t.rejects(ask(2, 'POST', '/v1/rooms/4/leave'), /not_room_member/)
    await t.rejects(ask(3, 'POST', '/v1/rooms/4/leave'), /room_owner/)
    t.same(other.log, [])
  })

  await all.test('nothing was logged', async (t) => {
    t.same(instance.log, [])
  })
})
