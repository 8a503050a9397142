import { test } from 'tap'
import { createRoomsSlice } from '../../../src/features/rooms/slice.ts'
import { activeGame } from '../../../src/features/roulette/reads.ts'
import { seats } from '../../../src/features/roulette/seats/seats.ts'
import { usersSlice } from '../../../src/features/users/slice.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const roomsSlice = createRoomsSlice(activeGame, seats)

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

test('operators define rooms', async (t) => {
  const { operator, ledger } = await createTestApp(t, [usersSlice, roomsSlice])
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }, { id: 2 }] })
  const made = await operator('PUT', '/admin/v1/rooms/3', {
    uid: 'majlis',
    name: 'Majlis',
    cover_url: 'https://cdn.test/c.png',
    owner_id: 1,
    trophy_points: 99,
  })
  t.equal(made.status, 200)
  t.match(made.body, {
    data: {
      id: 3,
      uid: 'majlis',
      name: 'Majlis',
      cover_url: 'https://cdn.test/c.png',
      owner_id: 1,
      trophy_points: 0,
      created_at: instant,
    },
  })
  t.same((await operator('GET', '/admin/v1/rooms/3')).body, made.body)
  await operator('PUT', '/admin/v1/rooms/2', { owner_id: 2 })
  t.match((await operator('GET', '/admin/v1/rooms')).body, {
    data: [{ id: 2, uid: 'r2', owner_id: 2 }, { id: 3 }],
    meta: { next_cursor: null },
  })

  const rows: readonly [url: string, body: unknown, status: number, field?: string][] = [
    ['/admin/v1/rooms/x', { owner_id: 1 }, 404],
    ['/admin/v1/rooms/4', { owner_id: 1, uid: '3' }, 422, 'uid'],
    ['/admin/v1/rooms/4', { owner_id: 1, uid: 'a b' }, 422, 'uid'],
    ['/admin/v1/rooms/4', { owner_id: 1, uid: 'x'.repeat(65) }, 422, 'uid'],
    ['/admin/v1/rooms/4', { owner_id: 1, uid: '' }, 422, 'uid'],
    ['/admin/v1/rooms/4', { owner_id: 1, uid: '12\n' }, 422, 'uid'],
    ['/admin/v1/rooms/4', { owner_id: 1, uid: 'majlis' }, 422, 'uid'],
    ['/admin/v1/rooms/4', { owner_id: 1, name: 'x'.repeat(101) }, 422, 'name'],
    ['/admin/v1/rooms/4', { owner_id: 1, cover_url: 'x'.repeat(501) }, 422, 'cover_url'],
    ['/admin/v1/rooms/4', {}, 422, 'owner_id'],
    ['/admin/v1/rooms/4', { owner_id: 3 }, 422, 'owner_id'],
    ['/admin/v1/rooms/4', { owner_id: '1' }, 422, 'owner_id'],
  ]
  for (const [url, body, status, field] of rows) {
    const refused = await operator('PUT', url, body)
    t.equal(refused.status, status, JSON.stringify(body))
    if (field !== undefined) t.match(refused.body, { code: 'validation_failed', errors: { [field]: [String] } })
  }
  t.equal((await operator('GET', '/admin/v1/rooms/4')).status, 404)
  t.same(ledger.bugs, [])
})

test('a cover is shown as a URL', async (t) => {
  const { operator, user } = await createTestApp(t, [usersSlice, roomsSlice])
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }] })
  for (const [cover_url, shown] of [
    ['rooms/c.png', 'http://assets.test/rooms/c.png'],
    ['https://cdn.test/c.png', 'https://cdn.test/c.png'],
    ['HTTP://cdn.test/c.png', 'HTTP://cdn.test/c.png'],
    ['//rooms/c.png', 'http://assets.test/rooms/c.png'],
    ['data:text/html,x', 'http://assets.test/data:text/html,x'],
    ['', ''],
  ] as const) {
    t.match((await operator('PUT', '/admin/v1/rooms/3', { owner_id: 1, cover_url })).body, { data: { cover_url } })
    t.match((await user(1)('GET', '/v1/rooms/3')).body, { data: { cover_url: shown } }, cover_url)
  }
})

test('a user sees a room and joins it', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t, [usersSlice, roomsSlice])
  await operator('POST', '/admin/v1/users', {
    users: [{ id: 1, name: 'Aya', avatar: 'a/1.png', uid: 'aya' }, { id: 2 }],
  })
  await operator('PUT', '/admin/v1/rooms/3', { uid: 'majlis', name: 'Majlis', cover_url: '/c.png', owner_id: 1 })
  await operator('PUT', '/admin/v1/rooms/5', { owner_id: 1 })
  t.match((await user(1)('GET', '/v1/rooms/r5/join')).body, { data: { id: 5, members_count: 1 } })
  const room = {
    id: 3,
    uid: 'majlis',
    name: 'Majlis',
    cover_url: 'http://assets.test/c.png',
    owner: { id: 1, name: 'Aya', avatar: 'a/1.png', uid: 'aya', avatar_url: 'http://assets.test/a/1.png' },
    members_count: 1,
    trophy_points: 0,
    active_roulette_game: null,
  }
  const ask = user(2)
  for (const prefix of ['/v1', '/api/v1']) {
    for (const ref of ['majlis', '3', 'majlis/', '3/']) {
      const seen = await ask('GET', `${prefix}/rooms/${ref}`)
      t.equal(seen.status, 200, `${prefix}/rooms/${ref}`)
      const { created_at, ...rest } = Object(Object(seen.body).data)
      t.same(rest, room)
      t.match(created_at, instant)
    }
  }

  for (const ref of ['majlis', '3', 'majlis']) {
    t.match(
      (await ask('GET', `/v1/rooms/${ref}/join`)).body,
      { data: { id: 3, members_count: 2 } },
      'joining again has no effect',
    )
  }
  t.match((await user(1)('GET', '/api/v1/rooms/3/join')).body, { data: { members_count: 2 } })
  t.same(
    await queryRows(database, 'select room_id, user_id from room_memberships where room_id = 3 order by user_id'),
    [
      { room_id: '3', user_id: '1' },
      { room_id: '3', user_id: '2' },
    ],
  )

  for (const ref of ['nowhere', '4', '0', '03', '99999999999999999999', 'MAJLIS', '%00', 'a%20b', '%F0%9F%8C%B9']) {
    for (const url of [`/v1/rooms/${ref}`, `/v1/rooms/${ref}/join`]) {
      t.match(await ask('GET', url), { status: 404, body: { code: 'not_found' } }, url)
    }
  }
  t.same(await queryRows(database, 'select count(*) from room_memberships'), [{ count: '3' }])
  t.same(
    await queryRows(
      database,
      `select data, actor from ledger_events where type = 'room-joined' order by position desc limit 1`,
    ),
    [{ data: '{"room_id":3,"user_id":2}', actor: 'user:2' }],
    'joining again is no event',
  )
  t.equal((await operator('GET', '/v1/rooms/3/join')).status, 403)
  t.equal((await user(9)('GET', '/v1/rooms/3/join')).status, 401)
  t.same(ledger.bugs, [])
})
