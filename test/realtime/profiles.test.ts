import { test } from 'tap'
import { createLookups } from '../../src/slices.ts'
import { createTestApp, readDb } from '../harness/app/test-app.ts'

test('profiles by id, as they are now; unknown ids are missing', async (t) => {
  const { operator, database } = await createTestApp(t)
  const people = [
    { id: 1, name: 'Amina', uid: 'amina', avatar: 'avatars/1.png' },
    { id: 2, name: 'Badr', uid: 'badr', avatar: 'https://elsewhere.test/2.png' },
    { id: 3, name: 'Carmen', uid: 'carmen' },
  ]
  await operator('POST', '/admin/v1/users', { users: people })
  await operator('PUT', '/admin/v1/rooms/7', { uid: 'R7', name: 'Lounge', owner_id: 1 })
  await operator('PUT', '/admin/v1/decorations/3', { name: 'Clover', kind: 'standard', price: 1, image_path: 'c.png' })
  await operator('PUT', '/admin/v1/privilege-packages/3', { name: 'Gold', rank: 3, valid_days: 30 })
  await operator('PUT', '/admin/v1/rooms/7', { uid: 'R7-new' })
  await operator('PUT', '/admin/v1/users/1', { name: 'Amina B.' })

  const db = readDb(t, database)
  const { users, rooms, decorations, packages } = createLookups(() => 'http://assets.test')
  t.same(
    [...(await users(db, [1, 2, 3, 99]))].toSorted(([a], [b]) => a - b),
    [
      [1, { ...people[0], name: 'Amina B.', picture: 'http://assets.test/avatars/1.png' }],
      [2, { ...people[1], picture: 'https://elsewhere.test/2.png' }],
      [3, { ...people[2], avatar: '', picture: '' }],
    ],
  )
  t.same([...(await rooms(db, [7, 99]))], [[7, { uid: 'R7-new', name: 'Lounge' }]])
  t.same([...(await decorations(db, [3, 99]))], [[3, { name: 'Clover', image_path: 'c.png', video_path: null }]])
  t.same([...(await packages(db, [3, 99]))], [[3, { name: 'Gold', name_ar: null }]])
})
