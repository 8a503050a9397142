import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { test } from 'tap'
import { beginsWith, isWord } from '../../../src/db/queries/begins-with.ts'
import { createRoomsSlice } from '../../../src/features/rooms/slice.ts'
import { activeGame } from '../../../src/features/roulette/reads.ts'
import { seats } from '../../../src/features/roulette/seats/seats.ts'
import { usersSlice } from '../../../src/features/users/slice.ts'
import { createTestApp, readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const slices = [usersSlice, createRoomsSlice(activeGame, seats)]

const bodyOf = (response: { readonly body: unknown }) => Object(response.body)
const idsOf = (response: { readonly body: unknown }): number[] =>
  bodyOf(response).data.map(({ id }: { readonly id: number }) => id)

test('users find rooms by uid or by the beginning of a name, newest first', async (t) => {
  const { operator, user, ledger } = await createTestApp(t, slices)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1, name: 'Aya', avatar: 'a/1.png', uid: 'aya' }] })
  const rooms: readonly [id: number, uid: string, name: string][] = [
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
  const rows: readonly [word: string, ids: number[]][] = [
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
    for (const [word, ids] of rows) {
      t.same(idsOf(await ask('GET', `${prefix}/rooms?search=${encodeURIComponent(word)}`)), ids, word)
    }
  }
  t.equal(idsOf(await ask('GET', '/v1/rooms?search=')).length, 9, 'an empty word is none')
  for (const word of ['x'.repeat(65), '\u0000', 'a\u202eb']) {
    t.match(await ask('GET', `/v1/rooms?search=${encodeURIComponent(word)}`), {
      status: 422,
      body: { errors: { search: [String] } },
    })
  }
  t.equal((await ask('GET', `/v1/rooms?search=${'\u{1f339}'.repeat(64)}`)).status, 200)
  t.equal((await ask('GET', '/v1/rooms?limit=201')).status, 422)

  const [first] = bodyOf(await ask('GET', '/v1/rooms?search=r1')).data
  t.match(Object.keys(first), [
    'id',
    'uid',
    'name',
    'cover_url',
    'owner',
    'members_count',
    'trophy_points',
    'created_at',
  ])
  t.match(first, {
    id: 1,
    members_count: 1,
    owner: { id: 1, name: 'Aya', uid: 'aya', avatar: 'a/1.png', avatar_url: 'http://assets.test/a/1.png' },
  })

  const seen: number[] = []
  for (let cursor = ''; ; ) {
    const page = await ask('GET', `/v1/rooms?search=ni&limit=1${cursor}`)
    seen.push(...idsOf(page))
    const { next_cursor } = bodyOf(page).meta
    if (next_cursor === null) break
    cursor = `&cursor=${next_cursor}`
  }
  t.same(seen, [3, 1])
  t.same(ledger.bugs, [])
})

test('a search among a hundred thousand rooms is served by the indexes', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    // Names that begin in many ways, as people choose them: what a beginning finds is then estimated alike in every sample.
    `insert into room_profiles
       select n, 'R' || n, md5(n::text), '', now() - n * interval '1 second', now(), 'test' from generate_series(1, 100000) n;
     analyze room_profiles`,
  )
  const db = readDb(t, database)
  const word = createHash('md5').update('5432').digest('hex').slice(0, 8)
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    explain select room_id from room_profiles p where (${isWord('p.uid', word)} or ${beginsWith('p.name', word)})
    order by p.created_at desc, p.room_id desc limit 51`.execute(db)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.match(plan, /room_profiles_by_name/)
  t.match(plan, /room_profiles_by_uid/)
  t.notMatch(plan, /Seq Scan/)
})
