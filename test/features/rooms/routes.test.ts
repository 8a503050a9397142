import { test } from 'tap'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { bodyOf, dataOf, idsOf, instant, person, profile } from '../answers.ts'

test('routes of rooms', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [1, 2, 3].map(profile) })
  const owner = person(1)

  await t.test('users find rooms by uid or by the beginning of a name, newest first', async (t) => {
    const rooms: readonly (readonly [id: number, uid: string, name: string])[] = [
      [1, 'R1', 'Night lounge'],
      [2, 'night', 'Morning'],
      [3, 'R3', 'NIGHT of roses'],
      [4, '77', '100% fun'],
      [5, 'R5', '100 fun'],
      [6, 'R6', 'a_b'],
      [7, 'R7', 'aXb'],
      [8, 'R8', 'مجلس الورد'],
      [9, 'R9', 'n'],
    ]
    for (const [id, uid, name] of rooms) await operator('PUT', `/admin/v1/rooms/${id}`, { uid, name, owner_id: 1 })
    const ask = user(1)
    t.same(idsOf(await ask('GET', '/v1/rooms')), [9, 8, 7, 6, 5, 4, 3, 2, 1])
    const found: readonly (readonly [word: string, ids: readonly number[]])[] = [
      ['night', [3, 2, 1]],
      ['Night lounge', [1]],
      ['lounge', []],
      ['r1', [1]],
      ['R', []],
      ['n', []],
      ['100%', [4]],
      ['a_', [6]],
      ['مجلس', [8]],
      ['77', [4]],
      ['4', []],
      ['%', []],
      ['__', []],
      ["'; --", []],
    ]
    for (const prefix of ['/v1', '/api/v1']) {
      for (const [word, ids] of found)
        t.same(idsOf(await ask('GET', `${prefix}/rooms?search=${encodeURIComponent(word)}`)), ids, word)
    }
    t.equal(idsOf(await ask('GET', '/v1/rooms?search=')).length, 9, 'an empty word is none')
    for (const word of ['x'.repeat(65), '\u0000', 'a\u202eb']) {
      const refused = await ask('GET', `/v1/rooms?search=${encodeURIComponent(word)}`)
      t.match(refused, { status: 422, body: { errors: { search: [String] } } })
    }
    t.equal((await ask('GET', `/v1/rooms?search=${'\u{1f339}'.repeat(64)}`)).status, 200)
    t.equal((await ask('GET', '/v1/rooms?limit=201')).status, 422)
    t.match(dataOf(await ask('GET', '/v1/rooms?search=r1')), [{ id: 1, members_count: 1, owner }])

    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await ask('GET', `/v1/rooms?search=ni&limit=1&cursor=${cursor}`)
      seen.push(...idsOf(page))
      cursor = bodyOf(page).meta.next_cursor
    }
    t.same(seen, [3, 1])
  })

  await t.test('operators define rooms', async (t) => {
    const room = { uid: 'defined', name: 'Majlis', cover_url: 'https://cdn.test/c.png', owner_id: 1 }
    const made = await operator('PUT', '/admin/v1/rooms/13', { ...room, trophy_points: 99 })
    t.match(made, { status: 200, body: { data: { id: 13, ...room, trophy_points: 0, created_at: instant } } })
    t.same((await operator('GET', '/admin/v1/rooms/13')).body, made.body)
    await operator('PUT', '/admin/v1/rooms/12', { owner_id: 2 })
    t.match((await operator('GET', '/admin/v1/rooms?limit=2')).body, {
      data: [{ id: 12, uid: 'r12', owner_id: 2 }, { id: 13 }],
      meta: { next_cursor: String },
    })

    t.equal((await operator('PUT', '/admin/v1/rooms/x', { owner_id: 1 })).status, 404)
    const rows: readonly (readonly [body: object, field: string])[] = [
      [{ owner_id: 1, uid: '3' }, 'uid'],
      [{ owner_id: 1, uid: 'a b' }, 'uid'],
      [{ owner_id: 1, uid: 'x'.repeat(65) }, 'uid'],
      [{ owner_id: 1, uid: '' }, 'uid'],
      [{ owner_id: 1, uid: '12\n' }, 'uid'],
      [{ owner_id: 1, uid: 'defined' }, 'uid'],
      [{ owner_id: 1, name: 'x'.repeat(101) }, 'name'],
      [{ owner_id: 1, cover_url: 'x'.repeat(501) }, 'cover_url'],
      [{}, 'owner_id'],
      [{ owner_id: 99 }, 'owner_id'],
      [{ owner_id: '1' }, 'owner_id'],
    ]
    for (const [body, field] of rows) {
      const refused = await operator('PUT', '/admin/v1/rooms/14', body)
      const expected = { status: 422, body: { code: 'validation_failed', errors: { [field]: [String] } } }
      t.match(refused, expected, JSON.stringify(body))
    }
    t.equal((await operator('GET', '/admin/v1/rooms/14')).status, 404)
  })

  await t.test('a cover is shown as a URL', async (t) => {
    for (const [cover_url, shown] of [
      ['rooms/c.png', 'http://assets.test/rooms/c.png'],
      ['https://cdn.test/c.png', 'https://cdn.test/c.png'],
      ['HTTP://cdn.test/c.png', 'HTTP://cdn.test/c.png'],
      ['//rooms/c.png', 'http://assets.test/rooms/c.png'],
      ['data:text/html,x', 'http://assets.test/data:text/html,x'],
      ['', ''],
    ] as const) {
      t.match((await operator('PUT', '/admin/v1/rooms/15', { owner_id: 1, cover_url })).body, { data: { cover_url } })
      t.match((await user(1)('GET', '/v1/rooms/15')).body, { data: { cover_url: shown } }, cover_url)
    }
  })

  await t.test('a user sees a room and joins it', async (t) => {
    await operator('PUT', '/admin/v1/rooms/23', { uid: 'majlis', name: 'Majlis', cover_url: '/c.png', owner_id: 1 })
    await operator('PUT', '/admin/v1/rooms/25', { owner_id: 1 })
    t.match((await user(1)('GET', '/v1/rooms/r25/join')).body, { data: { id: 25, members_count: 1 } })
    const room = { id: 23, uid: 'majlis', name: 'Majlis', cover_url: 'http://assets.test/c.png', owner }
    const shown = { ...room, members_count: 1, trophy_points: 0, active_roulette_game: null }
    const ask = user(2)
    for (const prefix of ['/v1', '/api/v1']) {
      for (const ref of ['majlis', '23', 'majlis/', '23/']) {
        const seen = await ask('GET', `${prefix}/rooms/${ref}`)
        t.equal(seen.status, 200, `${prefix}/rooms/${ref}`)
        const { created_at, ...rest } = dataOf(seen)
        t.same(rest, shown)
        t.match(created_at, instant)
      }
    }
    for (const ref of ['majlis', '23', 'majlis']) {
      const joined = await ask('GET', `/v1/rooms/${ref}/join`)
      t.match(joined.body, { data: { id: 23, members_count: 2 } }, 'joining again has no effect')
    }
    t.match((await user(1)('GET', '/api/v1/rooms/23/join')).body, { data: { members_count: 2 } })
    for (const ref of ['nowhere', '44', '0', '023', '99999999999999999999', 'MAJLIS', '%00', 'a%20b', '%F0%9F%8C%B9']) {
      for (const url of [`/v1/rooms/${ref}`, `/v1/rooms/${ref}/join`])
        t.match(await ask('GET', url), { status: 404, body: { code: 'not_found' } }, url)
    }
    t.same(
      await queryRows(database, `select data, actor from ledger where type = 'room-joined' and actor like 'user:%'`),
      [{ data: '{"room_id":23,"user_id":2}', actor: 'user:2' }],
      'joining again is no event',
    )
    t.equal((await operator('GET', '/v1/rooms/23/join')).status, 403)
    t.equal((await user(9)('GET', '/v1/rooms/23/join')).status, 401)
  })

  await t.test('reading a room does not read its members', async (t) => {
    await operator('PUT', '/admin/v1/rooms/33', { owner_id: 1 })
    t.match((await user(2)('GET', '/v1/rooms/33/join')).body, { data: { members_count: 2 } })
    await queryRows(database, 'revoke select on room_memberships from economy_service')
    t.match((await user(1)('GET', '/v1/rooms/33')).body, { data: { members_count: 2 } })
  })
  t.same(ledger.bugs, [])
})
