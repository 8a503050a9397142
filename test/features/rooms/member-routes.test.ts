import { test } from 'tap'
import { loadSlices } from '../../../src/domain.ts'
import { genesis } from '../../../src/ledger/storage/genesis.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp, type TestApp } from '../../harness/app/test-app.ts'
import { queryRows, testSpins } from '../../harness/ledger/test-executor.ts'

const { slices } = await loadSlices()

const bodyOf = (response: { readonly body: unknown }) => Object(response.body)
const idsOf = (response: { readonly body: unknown }): number[] =>
  bodyOf(response).data.map(({ id }: { readonly id: number }) => id)

/** Users 1 to 4 with 100 coins each; room 1 (uid R1) of user 1 with the members 2 and 3. */
async function memberApp(t: Parameters<typeof createTestApp>[0]): Promise<TestApp> {
  const app = await createTestApp(t, slices)
  const { operator, user, ledger } = app
  await ledger.runOk(genesis, { fairness_key: testSpins.keyHash })
  const people = [1, 2, 3, 4].map((id) => ({ id, uid: `u${id}`, name: `User ${id}`, avatar: `a/${id}.png` }))
  await operator('POST', '/admin/v1/users', { users: people })
  for (const { id } of people) {
    await operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'coins', amount: 100, reason: 'test' })
  }
  await operator('PUT', '/admin/v1/rooms/1', { uid: 'R1', owner_id: 1 })
  for (const id of [2, 3]) await user(id)('GET', '/v1/rooms/R1/join')
  return app
}

const eventsAfter = async ({ database }: TestApp, position: number) =>
  queryRows(database, `select type, data, actor from ledger_events where position > ${position} order by position`)
const headOf = async ({ database }: TestApp) =>
  Number((await queryRows(database, 'select position from ledger_head'))[0]?.['position'])

test('members see the members of their room, newest first', async (t) => {
  const app = await memberApp(t)
  const { user, operator, database } = app
  const all = await user(2)('GET', '/v1/rooms/R1/members')
  t.same(idsOf(all), [3, 2, 1])
  t.match(bodyOf(all).data[1], {
    id: 2,
    name: 'User 2',
    uid: 'u2',
    avatar: 'a/2.png',
    avatar_url: 'http://assets.test/a/2.png',
    joined_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
  })
  const first = await user(3)('GET', '/api/v1/rooms/1/members?limit=2')
  t.same(idsOf(first), [3, 2])
  const cursor = bodyOf(first).meta.next_cursor
  t.match((await user(3)('GET', `/v1/rooms/1/members?limit=2&cursor=${cursor}`)).body, {
    data: [{ id: 1 }],
    meta: { next_cursor: null },
  })
  t.match(await user(4)('GET', '/v1/rooms/R1/members'), { status: 403, body: { code: 'not_room_member' } })
  t.match(await user(4)('GET', '/v1/rooms/R9/members'), { status: 404, body: { code: 'not_found' } })
  t.equal((await operator('GET', '/v1/rooms/R1/members')).status, 403)
  t.equal((await user(2)('GET', '/v1/rooms/R1/members?limit=0')).status, 422)

  // Members of the version before are listed among them, once.
  await queryRows(database, `insert into room_members values (1, 4, '2026-01-01'), (1, 2, '2026-01-02')`)
  t.same(idsOf(await user(4)('GET', '/v1/rooms/R1/members')), [3, 2, 1, 4])
  t.same(idsOf(await user(4)('GET', '/v1/rooms/R1/members?limit=3')), [3, 2, 1])
})

test('a member leaves by uid or id, and joins again', async (t) => {
  const app = await memberApp(t)
  const { user, ledger } = app
  const before = await headOf(app)
  const key = { 'idempotency-key': 'leave' }
  const left = await user(2)('POST', '/v1/rooms/R1/leave', undefined, key)
  t.match(left, { status: 200, body: { meta: { message: 'You have left the room.' } } })
  const again = await user(2)('POST', '/api/v1/rooms/R1/leave', undefined, key)
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.same(again.body, left.body)
  t.match(await user(2)('POST', '/v1/rooms/1/leave'), { status: 403, body: { code: 'not_room_member' } })
  t.match(await user(1)('POST', '/v1/rooms/R1/leave'), { status: 422, body: { code: 'room_owner' } })
  t.match(await user(2)('POST', '/v1/rooms/R9/leave'), { status: 404, body: { code: 'not_found' } })
  t.match((await user(2)('GET', '/v1/rooms/1/join')).body, { data: { id: 1, members_count: 3 } })
  t.match(await user(3)('POST', '/v1/rooms/1/leave', {}, { 'accept-language': 'ar' }), {
    status: 200,
    body: { meta: { message: /غادرت/ } },
  })
  t.same(await eventsAfter(app, before), [
    { type: 'room-left', data: '{"room_id":1,"user_id":2}', actor: 'user:2' },
    { type: 'room-joined', data: '{"room_id":1,"user_id":2}', actor: 'user:2' },
    { type: 'room-left', data: '{"room_id":1,"user_id":3}', actor: 'user:3' },
  ])
  t.same((await verifyDatabase(app.database)).findings, [])
  t.same(ledger.bugs, [])
})

test('an operator removes a member, who gets the stake back and may join again', async (t) => {
  const app = await memberApp(t)
  const { user, operator, ledger } = app
  const game = bodyOf(
    await user(2)('POST', '/v1/rooms/R1/games/roulette/create', { game_price: 30, max_players: 3, join_admin: 1 }),
  ).data
  t.match(await user(2)('POST', '/v1/rooms/R1/leave'), { status: 422, body: { code: 'in_open_game' } })
  const before = await headOf(app)
  const key = { 'idempotency-key': 'remove' }
  const removed = await operator('DELETE', '/admin/v1/rooms/1/members/2', undefined, key)
  t.match(removed, { status: 200, body: { meta: { message: String } } })
  const again = await operator('DELETE', '/admin/v1/rooms/1/members/2', undefined, key)
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.match(await eventsAfter(app, before), [
    { type: 'roulette-left', actor: 'staff:ann' },
    { type: 'room-left', actor: 'staff:ann' },
  ])
  t.match((await user(2)('GET', '/v1/wallet')).body, { data: { coins: 100 } })
  t.match((await user(3)('GET', `/v1/rooms/R1/games/roulette/${game.id}`)).body, { data: { players: [], pot: 0 } })
  t.match(await user(2)('POST', `/v1/rooms/R1/games/roulette/join/${game.id}`), { body: { code: 'not_room_member' } })
  t.equal((await user(2)('DELETE', `/v1/rooms/R1/games/roulette/${game.id}`)).status, 200, 'the game is still theirs')
  t.equal((await user(2)('GET', '/v1/rooms/R1/join')).status, 200)
  for (const [path, status, code] of [
    ['1/members/4', 404, 'not_found'],
    ['9/members/2', 404, 'not_found'],
    ['R1/members/2', 404, 'not_found'],
    ['1/members/x', 404, 'not_found'],
    ['1/members/1', 422, 'room_owner'],
  ] as const) {
    t.match(await operator('DELETE', `/admin/v1/rooms/${path}`), { status, body: { code } }, path)
  }
  t.equal((await user(2)('DELETE', '/admin/v1/rooms/1/members/3')).status, 403)
  t.same((await verifyDatabase(app.database)).findings, [])
  t.same(ledger.bugs, [])
})

test('digits in a path or a text are a uid first, and an integer is an id first', async (t) => {
  const app = await memberApp(t)
  const { user, operator, ledger } = app
  await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 1 })
  await operator('POST', '/admin/v1/users/2/credits', { currency: 'diamonds', amount: 100, reason: 'test' })
  await operator('PUT', '/admin/v1/rooms/5', { uid: '77', owner_id: 1 })
  await operator('PUT', '/admin/v1/rooms/6', { uid: '007', owner_id: 1 })
  await operator('PUT', '/admin/v1/rooms/7', { owner_id: 1 })
  t.match(await operator('PUT', '/admin/v1/rooms/77', { owner_id: 1 }), {
    status: 422,
    body: { errors: { id: [String] } },
  })
  t.match(await operator('PUT', '/admin/v1/rooms/5', { uid: '7' }), {
    status: 422,
    body: { errors: { uid: [String] } },
  })
  const ask = user(2)
  for (const [ref, id] of [
    ['77', 5],
    ['5', 5],
    ['007', 6],
    ['7', 7],
    ['R1', 1],
  ] as const) {
    t.match((await ask('GET', `/v1/rooms/${ref}`)).body, { data: { id } }, ref)
    t.match((await ask('GET', `/v1/rooms/${ref}/join`)).body, { data: { id } }, ref)
    const game = await ask('POST', `/v1/rooms/${ref}/games/roulette/create`, { game_price: 1, max_players: 2 })
    t.equal(game.status, 201, ref)
    const open = await ask('GET', `/v1/rooms/${ref}/games/roulette`)
    t.equal(bodyOf(open).data.id, bodyOf(game).data.id)
    t.equal((await ask('DELETE', `/v1/rooms/${ref}/games/roulette/${bodyOf(game).data.id}`)).status, 200)
    t.equal((await ask('POST', `/v1/rooms/${ref}/leave`)).status, 200)
    await ask('GET', `/v1/rooms/${ref}/join`)
  }
  for (const ref of ['05', '0', '8', '0077']) t.equal((await ask('GET', `/v1/rooms/${ref}`)).status, 404, ref)

  const send = { u_id: 2, decoration_id: 1, user_id: [3], quantity: 1 }
  const lastRoom = async () => {
    const [event] = await queryRows(
      app.database,
      `select data::json->>'room_id' as room from ledger_events where type = 'gift-sent' order by position desc limit 1`,
    )
    return Number(event?.['room'])
  }
  for (const [room_id, id] of [
    [77, 5],
    ['77', 5],
    [5, 5],
    ['5', 5],
    [7, 7],
    ['007', 6],
    ['R1', 1],
  ] as const) {
    t.equal((await ask('POST', '/api/v1/instant-send', { ...send, room_id })).status, 200, JSON.stringify(room_id))
    t.equal(await lastRoom(), id, JSON.stringify(room_id))
  }
  for (const room_id of [8, '8', '05']) {
    t.match(await ask('POST', '/api/v1/instant-send', { ...send, room_id }), {
      status: 422,
      body: { errors: { room_id: [] } },
    })
  }
  // Their ids and uids crossed: an integer means the id.
  await operator('PUT', '/admin/v1/rooms/8', { uid: '8', owner_id: 1 })
  t.match((await ask('GET', '/v1/rooms/8')).body, { data: { id: 8 } })
  t.same(ledger.bugs, [])
})

test('whoever joins a game and leaves the room at once is either seated or no member', async (t) => {
  const app = await memberApp(t)
  const { user } = app
  const path = '/v1/rooms/R1/games/roulette'
  const game = bodyOf(await user(3)('POST', `${path}/create`, { game_price: 1, max_players: 3, join_admin: 1 })).data
  for (let round = 0; round < 8; round += 1) {
    const requests = [() => user(2)('POST', `${path}/join/${game.id}`), () => user(2)('POST', '/v1/rooms/R1/leave')]
    const answers = await Promise.all((round % 2 === 0 ? requests : requests.toReversed()).map((ask) => ask()))
    const codes = answers.map(({ status, body }) => (status === 200 ? 'done' : String(Object(body).code))).toSorted()
    t.ok(['done,in_open_game', 'done,not_room_member'].includes(codes.join()), codes.join())
    await user(2)('POST', `${path}/leave/${game.id}`)
    await user(2)('GET', '/v1/rooms/R1/join')
  }
  t.same((await verifyDatabase(app.database)).findings, [])
})
