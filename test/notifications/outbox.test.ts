import { test } from 'tap'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { notificationTo, openOutbox } from './outbox-fixture.ts'

test('a notification gets one row for each of the newest ten devices', async (t) => {
  const { outbox, register, queued, executor } = await openOutbox(t)
  for (let i = 0; i < 12; i += 1) await register(1, `t${String(i).padStart(2, '0')}`)
  await register(2, 'other')
  const some = [notificationTo(5, 1), notificationTo(6, 2), notificationTo(7, 3)]
  await outbox.add(some)
  await outbox.add(some)
  await outbox.add([])
  const newest = ['02', '03', '04', '05', '06', '07', '08', '09', '10', '11']
  t.same(await queued(), ['other 6', ...newest.map((i) => `t${i} 5`)])
  t.same([...executor.bugs, ...executor.failures], [])
})

test('a device gets notifications in its own language', async (t) => {
  const { outbox, register, notify } = await openOutbox(t)
  await register(1, 'english')
  await register(1, 'arabic', 'ar')
  await notify(5, 1)
  const { en, ar } = notificationTo(5, 1).notification
  const leased = new Map((await outbox.lease(9)).map(({ token, notification }) => [token, notification]))
  t.same([leased.get('english'), leased.get('arabic')], [en, ar])
})

test('at most 100 notifications are queued for a device', async (t) => {
  const { outbox, register, queued } = await openOutbox(t)
  await register(1, 'a')
  await register(2, 'b')
  for (let position = 1; position <= 120; position += 1) await outbox.add([notificationTo(position, 1)])
  t.equal((await queued()).length, 100)
  await outbox.add([notificationTo(121, 2)])
  t.equal((await queued()).at(-1), 'b 121', 'other devices are not affected')
})

test('a leased row is not leased again until the lease expires', async (t) => {
  const { outbox, register, notify, database } = await openOutbox(t)
  await register(1, 'a')
  for (let position = 1; position <= 9; position += 1) await notify(position, 1)
  const leases = await Promise.all([outbox.lease(3), outbox.lease(3), outbox.lease(3)])
  t.same(
    leases
      .flat()
      .map(({ position }) => position)
      .sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  t.match(leases[0][0], {
    token: 'a',
    user_id: 1,
    attempts: 1,
    is_stale: false,
    notification: notificationTo(1, 1).notification.en,
  })
  t.same(await outbox.lease(9), [])
  const [lease] = await queryRows(
    database,
    'select extract(epoch from min(next_attempt) - clock_timestamp())::int as s, count(*) from push_outbox',
  )
  t.ok(Number(lease?.['s']) >= 10 && Number(lease?.['s']) <= 12)

  // The first instance is taken for dead and another has the row: the first can no longer change it.
  const [first] = leases.flat()
  if (first === undefined) throw new Error('nothing was leased')
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

test('rows that are due for longest are leased first', async (t) => {
  const { outbox, register, notify, database } = await openOutbox(t)
  await register(1, 'a')
  for (let position = 1; position <= 3; position += 1) await notify(position, 1)
  await queryRows(database, `update push_outbox set next_attempt = now() - position * interval '1 minute'`)
  t.match(await outbox.lease(1), [{ position: 3 }])
  t.match(await outbox.lease(1), [{ position: 2 }])
})

test('a device is not dropped if it was registered again meanwhile', async (t) => {
  const { outbox, register, notify, database, queued } = await openOutbox(t)
  for (const token of ['a', 'b', 'c']) await register(1, token)
  await notify(5, 1)
  const leased = await outbox.lease(9)
  await register(1, 'b')
  await register(2, 'c')
  for (const row of leased) await outbox.dropDevice(row)
  t.same(await queryRows(database, 'select token, user_id from devices order by token'), [
    { token: 'b', user_id: '1' },
    { token: 'c', user_id: '2' },
  ])
  t.same(await queued(), [])
})
