import { type Test, test } from 'tap'
import { ProfileCache } from '../../../src/realtime/frames/profile-cache.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

/** A cache of people whose names and clock the test sets; `reads` has the ids of each query. */
async function openCache(t: Test) {
  const names = new Map([
    [1, 'Amina'],
    [2, 'Badr'],
  ])
  const reads: (readonly number[])[] = []
  const errors: unknown[] = []
  const database: { answer: () => Promise<void> } = { answer: async () => {} }
  let now = 1_000_000
  const none = async () => new Map()
  const users = async (_db: unknown, ids: readonly number[]) => {
    reads.push(ids)
    const found = ids.flatMap((id) => {
      const name = names.get(id)
      return name === undefined ? [] : [[id, { id, name, avatar: '', uid: `u${id}`, picture: '' }] as const]
    })
    await database.answer()
    return new Map(found)
  }
  const cache = new ProfileCache(
    readDb(t, await testDatabase()),
    { users, rooms: none, decorations: none, packages: none },
    (error) => errors.push(error),
    { now: () => now, sleep: async () => {} },
  )
  const nameOf = async (id: number) => (await cache.get([{ users: [id] }])).users.get(id)?.name
  const pass = (ms: number): void => {
    now += ms
  }
  return { cache, names, reads, errors, database, nameOf, pass }
}

test('a name that is in use is read again in the background, others after a second', async (t) => {
  const { cache, names, reads, nameOf, pass } = await openCache(t)
  t.equal(await nameOf(1), 'Amina')
  pass(900)
  names.set(1, 'Amina B.')
  t.equal(await nameOf(1), 'Amina')
  await cache.refresh()
  t.equal(await nameOf(1), 'Amina B.')
  t.same(reads, [[1], [1]])
  pass(1_001)
  t.equal(await nameOf(1), 'Amina B.')
  t.same(reads, [[1], [1], [1]], 'too old, and not being read')
  t.equal(await nameOf(9), undefined)
  t.equal(await nameOf(9), undefined)
  t.equal(reads.length, 4, 'that there is none is known, too')
})

test('frames do not wait for a name that is being read again, unless it is very old', async (t) => {
  const { cache, names, database, reads, nameOf, pass } = await openCache(t)
  await nameOf(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  database.answer = () => promise
  const refreshing = cache.refresh()
  await cache.refresh()
  t.equal(reads.length, 2, 'one at a time')
  names.set(1, 'Amina B.')
  pass(9_000)
  t.equal(await nameOf(1), 'Amina')
  database.answer = async () => {}
  pass(2_000)
  t.equal(await nameOf(1), 'Amina B.')
  resolve()
  await refreshing
  t.equal(await nameOf(1), 'Amina B.', 'the slow answer is older')
})

test('a person who is erased is gone with the event, even if the name is just being read', async (t) => {
  const { cache, names, database, nameOf } = await openCache(t)
  await nameOf(1)
  await nameOf(2)
  const { promise, resolve } = Promise.withResolvers<void>()
  database.answer = () => promise
  const refreshing = cache.refresh()
  names.set(1, '')
  cache.dropErased([{ type: 'user-forgotten', data: { user_id: 1 }, movements: [], position: 7, at: 0 }])
  database.answer = async () => {}
  t.equal(await nameOf(1), '')
  resolve()
  await refreshing
  t.equal(await nameOf(1), '')
  t.equal(await nameOf(2), 'Badr')
})

test('a name that cannot be read is reported when a frame needs it, not in the background', async (t) => {
  const { cache, database, errors, nameOf, pass } = await openCache(t)
  await nameOf(1)
  database.answer = async () => {
    throw new Error('no such column')
  }
  await cache.refresh()
  t.same(errors, [])
  pass(100)
  t.equal(await nameOf(1), undefined)
  t.match(errors, [{ message: 'no such column' }])
  database.answer = async () => {
    throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  }
  await t.rejects(cache.refresh(), { code: 'ECONNREFUSED' })
  pass(1_001)
  await t.rejects(nameOf(1), { code: 'ECONNREFUSED' }, 'the events are delivered again')
  database.answer = async () => {}
  t.equal(await nameOf(1), 'Amina')
})
