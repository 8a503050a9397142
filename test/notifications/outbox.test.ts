import { test } from 'tap'
import { removeDevice } from '../../src/features/users/devices/remove-device.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { pushing, told } from './notification-fixture.ts'

test('a row for each device, the newest ten, and again none', async (t) => {
  const { outbox, register, waiting, bench } = await pushing(t)
  for (let i = 0; i < 12; i += 1) await register(1, `t${String(i).padStart(2, '0')}`)
  await register(2, 'other')
  const some = [told(5, 1), told(6, 2), told(7, 3)]
  await outbox.add(some)
  await outbox.add(some)
  await outbox.add([])
  const newest = ['02', '03', '04', '05', '06', '07', '08', '09', '10', '11']
  t.same(await waiting(), ['other 6', ...newest.map((i) => `t${i} 5`)])
  t.same([...bench.bugs, ...bench.failures], [])
})

test('no more wait for a device than FCM would keep', async (t) => {
  const { outbox, register, waiting } = await pushing(t)
  await register(1, 'a')
  await register(2, 'b')
  for (let position = 1; position <= 120; position += 1) await outbox.add([told(position, 1)])
  t.equal((await waiting()).length, 100)
  await outbox.add([told(121, 2)])
  t.equal((await waiting()).at(-1), 'b 121', 'others are not touched')
})

test('whoever claims has it alone, until the lease ends', async (t) => {
  const { outbox, register, tell, database } = await pushing(t)
  await register(1, 'a')
  for (let position = 1; position <= 9; position += 1) await tell(position, 1)
  const claims = await Promise.all([outbox.lease(3), outbox.lease(3), outbox.lease(3)])
  t.same(
    claims
      .flat()
      .map(({ position }) => position)
      .sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  t.match(claims[0][0], { token: 'a', user_id: 1, attempts: 1, stale: false, notification: told(1, 1).notification })
  t.same(await outbox.lease(9), [])
  const [lease] = await queryRows(
    database,
    'select extract(epoch from min(next_attempt) - clock_timestamp())::int as s, count(*) from push_outbox',
  )
  t.ok(Number(lease?.['s']) >= 10 && Number(lease?.['s']) <= 12)

  // The first one died, and somebody else has the row: what the first one has to say of it no longer counts.
  const [first] = claims.flat()
  if (first === undefined) throw new Error('nothing was claimed')
  await queryRows(database, `update push_outbox set next_attempt = now() where position = ${first.position}`)
  const again = await outbox.lease(9)
  t.match(again, [{ position: first.position, attempts: 2 }])
  await outbox.reschedule(first, 0)
  t.same(await outbox.lease(9), [], 'still leased')
  for (const row of again) await outbox.reschedule(row, 0)
  t.match(await outbox.lease(9), [{ position: first.position, attempts: 3 }])
  await outbox.remove(first)
  await queryRows(database, 'update push_outbox set next_attempt = now()')
  t.equal((await outbox.lease(9)).length, 8)
})

test('what is due for longest comes first', async (t) => {
  const { outbox, register, tell, database } = await pushing(t)
  await register(1, 'a')
  for (let position = 1; position <= 3; position += 1) await tell(position, 1)
  await queryRows(database, `update push_outbox set next_attempt = now() - position * interval '1 minute'`)
  t.match(await outbox.lease(1), [{ position: 3 }])
  t.match(await outbox.lease(1), [{ position: 2 }])
})

test('a token that went to somebody else carries nothing of its former user', async (t) => {
  const { outbox, register, tell, bench } = await pushing(t)
  await register(1, 'a')
  await register(2, 'b')
  await tell(5, 1)
  await tell(6, 2)
  await register(3, 'a')
  await bench.runOk(removeDevice, { user_id: 2, token: 'b' })
  t.match(await outbox.lease(9), [{ registered_at: null }, { registered_at: null }])
})

test('a device is dropped as it was registered, and no other', async (t) => {
  const { outbox, register, tell, database, waiting } = await pushing(t)
  for (const token of ['a', 'b', 'c']) await register(1, token)
  await tell(5, 1)
  const claimed = await outbox.lease(9)
  await register(1, 'b')
  await register(2, 'c')
  for (const row of claimed) await outbox.dropDevice(row)
  t.same(await queryRows(database, 'select token, user_id from devices order by token'), [
    { token: 'b', user_id: '1' },
    { token: 'c', user_id: '2' },
  ])
  t.same(await waiting(), [])
})

test('what has waited for weeks says so', async (t) => {
  const { outbox, register, tell, database } = await pushing(t)
  await register(1, 'a')
  await tell(5, 1)
  await tell(6, 1)
  await queryRows(database, `update push_outbox set made_at = now() - interval '29 days' where position = 5`)
  const claimed = await outbox.lease(9)
  t.same(
    claimed.map(({ position, stale }) => ({ position, stale })).sort((a, b) => a.position - b.position),
    [
      { position: 5, stale: true },
      { position: 6, stale: false },
    ],
  )
})
