import { test } from 'tap'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows, testOpening } from '../../harness/ledger/test-executor.ts'
import { bodyOf, dataOf, idsOf, instant, person, profile } from '../answers.ts'

test('routes of members', async (t) => {
  const { operator, user, ledger, database } = await createTestApp(t)
  await ledger.runOk(genesis, testOpening)
  await operator('POST', '/admin/v1/users', { users: [1, 2, 3, 4].map(profile) })
  for (const id of [2, 3])
    await operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'coins', amount: 100, reason: 'test' })
  /** A room of user 1 with the members 2 and 3. */
  const makeRoom = async (id: number): Promise<string> => {
    await operator('PUT', `/admin/v1/rooms/${id}`, { uid: `R${id}`, owner_id: 1 })
    for (const member of [2, 3]) await user(member)('GET', `/v1/rooms/R${id}/join`)
    return `/v1/rooms/R${id}`
  }
  const eventsAfter = (position: string | null | undefined) =>
    queryRows(database, `select type, data, actor from ledger where position > ${position} order by position`)
  const headOf = async () => (await queryRows(database, 'select position from ledger_head'))[0]?.['position']

  await t.test('a member leaves by uid or id, and joins again', async (t) => {
    const room = await makeRoom(12)
    const before = await headOf()
    const key = { 'idempotency-key': 'leave' }
    const left = await user(2)('POST', `${room}/leave`, undefined, key)
    t.match(left, { status: 200, body: { meta: { message: 'You have left the room.' } } })
    const again = await user(2)('POST', `/api${room}/leave`, undefined, key)
    t.equal(again.headers['idempotency-replayed'], 'true')
    t.same(again.body, left.body)
    t.match(await user(2)('POST', '/v1/rooms/12/leave'), { status: 403, body: { code: 'not_room_member' } })
    t.match(await user(1)('POST', `${room}/leave`), { status: 422, body: { code: 'room_owner' } })
    t.match(await user(2)('POST', '/v1/rooms/R9/leave'), { status: 404, body: { code: 'not_found' } })
    t.match((await user(2)('GET', '/v1/rooms/12/join')).body, { data: { id: 12, members_count: 3 } })
    t.match(await user(3)('POST', '/v1/rooms/12/leave', {}, { 'accept-language': 'ar' }), {
      status: 200,
      body: { meta: { message: /غادرت/ } },
    })
    t.same(await eventsAfter(before), [
      { type: 'room-left', data: '{"room_id":12,"user_id":2}', actor: 'user:2' },
      { type: 'room-joined', data: '{"room_id":12,"user_id":2}', actor: 'user:2' },
      { type: 'room-left', data: '{"room_id":12,"user_id":3}', actor: 'user:3' },
    ])
  })

  await t.test('an operator removes a member, who gets the stake back and may join again', async (t) => {
    const room = await makeRoom(13)
    const roulette = `${room}/games/roulette`
    const game = dataOf(await user(2)('POST', `${roulette}/create`, { game_price: 30, max_players: 3, join_admin: 1 }))
    t.match(await user(2)('POST', `${room}/leave`), { status: 422, body: { code: 'in_open_game' } })
    const before = await headOf()
    const key = { 'idempotency-key': 'remove' }
    const removed = await operator('DELETE', '/admin/v1/rooms/13/members/2', undefined, key)
    t.match(removed, { status: 200, body: { meta: { message: String } } })
    const again = await operator('DELETE', '/admin/v1/rooms/13/members/2', undefined, key)
    t.equal(again.headers['idempotency-replayed'], 'true')
    t.match(await eventsAfter(before), [
      { type: 'roulette-left', actor: 'staff:ann' },
      { type: 'room-left', actor: 'staff:ann' },
    ])
    t.match((await user(2)('GET', '/v1/wallet')).body, { data: { coins: 100 } })
    t.match((await user(3)('GET', `${roulette}/${game.id}`)).body, { data: { players: [], pot: 0 } })
    t.match(await user(2)('POST', `${roulette}/join/${game.id}`), { body: { code: 'not_room_member' } })
    t.equal((await user(2)('DELETE', `${roulette}/${game.id}`)).status, 200, 'the game is still theirs')
    t.equal((await user(2)('GET', `${room}/join`)).status, 200)
    for (const path of ['13/members/4', '9/members/2', 'R13/members/2', '13/members/x'])
      t.match(await operator('DELETE', `/admin/v1/rooms/${path}`), { status: 404, body: { code: 'not_found' } }, path)
    t.match(await operator('DELETE', '/admin/v1/rooms/13/members/1'), { status: 422, body: { code: 'room_owner' } })
    t.equal((await user(2)('DELETE', '/admin/v1/rooms/13/members/3')).status, 403)
  })

  await t.test('digits in a path or a text are a uid first, and an integer is an id first', async (t) => {
    await makeRoom(1)
    await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 1 })
    await operator('POST', '/admin/v1/users/2/credits', { currency: 'diamonds', amount: 100, reason: 'test' })
    await operator('PUT', '/admin/v1/rooms/5', { uid: '77', owner_id: 1 })
    await operator('PUT', '/admin/v1/rooms/6', { uid: '007', owner_id: 1 })
    await operator('PUT', '/admin/v1/rooms/7', { owner_id: 1 })
    t.match(await operator('PUT', '/admin/v1/rooms/77', { owner_id: 1 }), {
      status: 422,
      body: { errors: { id: Array } },
    })
    t.match(await operator('PUT', '/admin/v1/rooms/5', { uid: '7' }), { status: 422, body: { errors: { uid: Array } } })
    const ask = user(2)
    for (const [ref, id] of Object.entries({ '77': 5, '5': 5, '007': 6, '7': 7, R1: 1 })) {
      t.match((await ask('GET', `/v1/rooms/${ref}`)).body, { data: { id } }, ref)
      t.match((await ask('GET', `/v1/rooms/${ref}/join`)).body, { data: { id } }, ref)
      const game = await ask('POST', `/v1/rooms/${ref}/games/roulette/create`, { game_price: 1, max_players: 2 })
      t.equal(game.status, 201, ref)
      t.equal(dataOf(await ask('GET', `/v1/rooms/${ref}/games/roulette`)).id, dataOf(game).id)
      t.equal((await ask('DELETE', `/v1/rooms/${ref}/games/roulette/${dataOf(game).id}`)).status, 200)
      t.equal((await ask('POST', `/v1/rooms/${ref}/leave`)).status, 200)
      await ask('GET', `/v1/rooms/${ref}/join`)
    }
    for (const ref of ['05', '0', '8', '0077']) t.equal((await ask('GET', `/v1/rooms/${ref}`)).status, 404, ref)

    const send = (room_id: unknown) =>
      ask('POST', '/api/v1/instant-send', { u_id: 2, decoration_id: 1, user_id: [3], quantity: 1, room_id })
    const rooms: readonly (readonly [number | string, number])[] = [
      [77, 5],
      ['77', 5],
      [5, 5],
      ['5', 5],
      [7, 7],
      ['007', 6],
      ['R1', 1],
    ]
    for (const [ref] of rooms) t.equal((await send(ref)).status, 200, JSON.stringify(ref))
    const sent = `select (data::json->>'room_id')::int as room from ledger where type = 'gift-sent' order by position`
    t.same(
      await queryRows(database, sent),
      rooms.map(([, id]) => ({ room: String(id) })),
    )
    for (const ref of [8, '8', '05']) t.match(await send(ref), { status: 422, body: { errors: { room_id: [] } } })
    await operator('PUT', '/admin/v1/rooms/8', { uid: '8', owner_id: 1 })
    t.match((await ask('GET', '/v1/rooms/8')).body, { data: { id: 8 } })
  })

  await t.test('a user who joins a game and leaves the room at once is either seated or no member', async (t) => {
    const room = await makeRoom(15)
    const path = `${room}/games/roulette`
    const game = dataOf(await user(3)('POST', `${path}/create`, { game_price: 1, max_players: 3, join_admin: 1 }))
    for (let round = 0; round < 8; round += 1) {
      const requests = [() => user(2)('POST', `${path}/join/${game.id}`), () => user(2)('POST', `${room}/leave`)]
      const answers = await Promise.all((round % 2 === 0 ? requests : requests.toReversed()).map((ask) => ask()))
      const codes = answers.map(({ status, body }) => (status === 200 ? 'done' : String(Object(body).code))).toSorted()
      t.ok(['done,in_open_game', 'done,not_room_member'].includes(codes.join()), codes.join())
      await user(2)('POST', `${path}/leave/${game.id}`)
      await user(2)('GET', `${room}/join`)
    }
  })

  t.same((await verifyDatabase(database)).findings, [])

  await t.test('members see the members of their room, newest first', async (t) => {
    const room = await makeRoom(11)
    const all = await user(2)('GET', `${room}/members`)
    t.same(idsOf(all), [3, 2, 1])
    t.match(dataOf(all)[1], { ...person(2), joined_at: instant })
    const first = await user(3)('GET', '/api/v1/rooms/11/members?limit=2')
    t.same(idsOf(first), [3, 2])
    const cursor = bodyOf(first).meta.next_cursor
    t.match((await user(3)('GET', `/v1/rooms/11/members?limit=2&cursor=${cursor}`)).body, {
      data: [{ id: 1 }],
      meta: { next_cursor: null },
    })
    t.match(await user(4)('GET', `${room}/members`), { status: 403, body: { code: 'not_room_member' } })
    t.match(await user(4)('GET', '/v1/rooms/R9/members'), { status: 404, body: { code: 'not_found' } })
    t.equal((await operator('GET', `${room}/members`)).status, 403)
    t.equal((await user(2)('GET', `${room}/members?limit=0`)).status, 422)
  })
  t.same(ledger.bugs, [])
})
