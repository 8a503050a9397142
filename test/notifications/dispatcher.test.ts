import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { readServiceAccount } from '../../src/config/credentials.ts'
import { removeDevice } from '../../src/features/users/device.ts'
import { Dispatcher } from '../../src/notifications/dispatcher.ts'
import { fcmSender } from '../../src/notifications/fcm-sender.ts'
import type { Send } from '../../src/notifications/outbox.ts'
import { type FcmServer, fcmError, fcmServer, unregistered } from '../harness/app/fcm-server.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { until } from '../harness/until.ts'
import { log, notificationTo, type OutboxFixture, openOutbox } from './outbox-fixture.ts'

/** A dispatcher with the shortest delays; `onSend` is called before each send. */
function startDispatcher(
  t: Test,
  { outbox }: OutboxFixture,
  { account, origin }: FcmServer,
  onSend: () => void = () => {},
): Dispatcher {
  const sender = fcmSender(readServiceAccount(account), origin, new AbortController().signal)
  const send: Send = (delivery) => {
    onSend()
    return sender(delivery)
  }
  const dispatcher = new Dispatcher({ outbox, send, log, random: () => 0 })
  t.teardown(() => dispatcher.stop())
  dispatcher.start()
  return dispatcher
}

/** To each of the users 1 to 9, of so many events. */
const manyNotifications = (events: number) =>
  Array.from({ length: 9 * events }, (_, i) => notificationTo(1 + Math.floor(i / 9), 1 + (i % 9)))

test('by FCM response, a notification is sent or retried, or its device dropped', async (t) => {
  const push = await openOutbox(t)
  const fcm = await fcmServer(t)
  fcm.answer('busy', fcmError(429, 'QUOTA_EXCEEDED', { 'retry-after': '2' }))
  fcm.answer('broken', fcmError(500, 'INTERNAL'))
  fcm.answer('gone', unregistered)
  const tokens = ['good', 'busy', 'broken', 'gone']
  for (const token of tokens) await push.register(1, token)
  await push.notify(5, 1)
  startDispatcher(t, push, fcm)
  await until(async () => (await push.queued()).length === 0)
  const times = (token: string) => fcm.received.filter((one) => one.token === token).map(({ at }) => at)
  t.same(
    tokens.map((token) => times(token).length),
    [1, 2, 2, 1],
  )
  const [first = 0, second = 0] = times('busy')
  t.ok(second - first >= 2_000, `Retry-After is kept: ${second - first} ms`)
  const [failed = 0, retried = 0] = times('broken')
  t.ok(retried - failed >= 500, `the first back-off: ${retried - failed} ms`)
  t.same(await queryRows(push.database, `select 1 from devices where token = 'gone'`), [])
  t.equal((await queryRows(push.database, 'select 1 from devices')).length, 3)
  t.same(fcm.violations, [])
})

test('failing devices of one user do not delay other users', async (t) => {
  const push = await openOutbox(t)
  const fcm = await fcmServer(t)
  const bad = Array.from({ length: 10 }, (_, i) => `bad${i}`)
  for (const token of bad) {
    await push.register(1, token)
    fcm.answer(token, ...Array.from({ length: 99 }, () => fcmError(403, 'SENDER_ID_MISMATCH')))
  }
  await push.register(2, 'good')
  for (let position = 1; position <= 20; position += 1) await push.notify(position, 1)
  const dispatcher = startDispatcher(t, push, fcm)
  await until(() => fcm.received.length >= 200)
  await push.notify(21, 2)
  const before = fcm.received.length
  dispatcher.wake()
  const place = () => fcm.received.findIndex(({ token }) => token === 'good')
  await until(() => place() >= 0)
  t.ok(place() - before <= 216, `after ${place() - before} others: at most those that were due or under way before it`)
  await until(async () => !(await push.queued()).includes('good 21'))
  t.equal((await push.queued()).length, 200, 'and nothing is lost')
})

test('while FCM is down, sending pauses and one at a time is tried; then everything arrives', async (t) => {
  const push = await openOutbox(t)
  const fcm = await fcmServer(t)
  for (let user = 1; user <= 9; user += 1) await push.register(user, `t${user}`)
  await push.outbox.add(manyNotifications(10))
  await fcm.down()
  const begun: number[] = []
  startDispatcher(t, push, fcm, () => begun.push(performance.now()))
  const pauses = () => begun.filter((at, i) => at - (begun[i - 1] ?? at) >= 500).length
  await until(() => begun.length >= 16 && pauses() >= 3)
  // 16 at a time until 16 have failed, and one after each pause.
  t.ok(begun.length <= 31 + pauses(), `${begun.length} tries for 90 notifications`)
  t.equal((await push.queued()).length, 90)
  await fcm.up()
  await until(async () => (await push.queued()).length === 0)
  t.equal(fcm.received.length, 90, 'each once')
  t.same(fcm.violations, [])
})

test('at most 16 sends run at a time, and stopping waits for them', async (t) => {
  const push = await openOutbox(t)
  for (let user = 1; user <= 9; user += 1) await push.register(user, `t${user}`)
  await push.outbox.add(manyNotifications(5))
  let sending = 0
  let most = 0
  let sent = 0
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const dispatcher = new Dispatcher({
    outbox: push.outbox,
    log,
    send: async () => {
      sending += 1
      most = Math.max(most, sending)
      await released
      await sleep(300)
      sending -= 1
      sent += 1
      return { kind: 'delivered' }
    },
  })
  dispatcher.start()
  await until(() => sending === 16)
  release()
  await until(() => sent >= 20)
  await dispatcher.stop()
  t.equal(most, 16)
  t.equal(sending, 0)
  t.equal((await push.queued()).length, 45 - sent)
})

test('notifications of devices that were moved or removed, and old ones, are not sent', async (t) => {
  const push = await openOutbox(t)
  const fcm = await fcmServer(t)
  for (const token of ['moved', 'removed', 'old', 'good']) await push.register(1, token)
  await push.notify(5, 1)
  await push.register(2, 'moved')
  await push.executor.runOk(removeDevice, { user_id: 1, token: 'removed' })
  await queryRows(push.database, `update push_outbox set made_at = now() - interval '29 days' where token = 'old'`)
  startDispatcher(t, push, fcm)
  await until(async () => (await push.queued()).length === 0)
  t.same(
    fcm.received.map(({ token }) => token),
    ['good'],
  )
  t.equal((await queryRows(push.database, 'select 1 from devices')).length, 3)
})

test('the dispatcher continues after database errors', async (t) => {
  const push = await openOutbox(t)
  const fcm = await fcmServer(t)
  await push.register(1, 'a')
  await push.notify(5, 1)
  const lease = push.outbox.lease.bind(push.outbox)
  let failures = 2
  Reflect.set(push.outbox, 'lease', async (most: number) => {
    failures -= 1
    if (failures >= 0) throw new Error('the database is unreachable')
    return lease(most)
  })
  startDispatcher(t, push, fcm)
  await until(async () => (await push.queued()).length === 0)
  t.equal(fcm.received.length, 1)
})
