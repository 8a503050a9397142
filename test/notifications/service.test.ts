import { test } from 'tap'
import { fcmServer } from '../harness/app/fcm-server.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { type ServiceProcess, startService, tokenIn } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'

const DEVICE = 'the-token-of-a-device'

/** Sends a request with a token that the service printed. */
async function post(service: ServiceProcess, who: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${service.origin}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenIn(service.output(), who)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const result: unknown = await response.json()
  if (!response.ok) throw new Error(JSON.stringify(result))
  return result
}

/** Gives user 1 a card and has them send it to user 2. */
async function transfer(service: ServiceProcess): Promise<void> {
  const package_ = { privilege_package_id: 1, quantity: 1, reason: 'test' }
  const { data } = Object(await post(service, 'operator', '/admin/v1/users/1/cards', package_))
  await post(service, 'user 1', `/api/v1/privilege-wallet/${data[0].id}/transfer`, { receiver_id: 2 })
}

test('a device is notified of each transfer: when an instance dies, FCM is down, or does not answer', {
  skip: onlyInFullRun,
}, async (t) => {
  const database = await testDatabase()
  const fcm = await fcmServer(t)
  const environment = {
    DATABASE_URL: database.serviceUrl,
    DATA_DIR: temporaryFolder(t),
    LOG_LEVEL: 'trace',
    FCM_SERVICE_ACCOUNT: fcm.account,
    FCM_BASE_URL: `${fcm.origin}/`,
  }
  const start = async () => startService(t, environment)
  const waiting = async () => (await queryRows(database, 'select 1 from push_outbox')).length
  const first = await start()
  await post(first, 'user 2', '/api/v1/devices', { token: DEVICE, platform: 'android' })
  await transfer(first)
  await until(async () => fcm.received.length === 1 && (await waiting()) === 0)
  t.match(fcm.received[0]?.message, {
    token: DEVICE,
    notification: { title: 'New privilege', body: 'Amina sent Bronze to your privilege wallet.' },
    data: { type: 'reward', identifier: 'privilege-package-wallet' },
  })

  // FCM accepts the message, and the instance dies before the response.
  fcm.answer(DEVICE, 'hang')
  await transfer(first)
  await until(() => fcm.received.length === 2)
  first.kill('SIGKILL')
  await first.exited
  t.equal(await waiting(), 1)
  // A start may take longer than the dead one's lease, whose length other tests check.
  await queryRows(database, `update push_outbox set next_attempt = next_attempt + interval '1 hour'`)

  // And as if it had died after the outbox was filled and before the cursor was stored.
  const moved = `select max(position) from ledger where type = 'card-moved'`
  await queryRows(database, `update ledger_cursors set position = (${moved}) - 1 where name = 'push'`)
  const second = await start()
  t.equal(fcm.received.length, 2, 'while the lease runs, no other instance sends')
  await queryRows(database, `update push_outbox set next_attempt = now()`)
  await until(async () => fcm.received.length > 2 && (await waiting()) === 0)
  t.equal(fcm.received.length, 3, 'again, once')
  t.same(fcm.received[2]?.message, fcm.received[1]?.message, 'byte for byte, so that devices show it once')
  const [cursor] = await queryRows(
    database,
    `select c.position >= (${moved}) as past from ledger_cursors c where c.name = 'push'`,
  )
  t.same(cursor, { past: 't' })

  // An attempt is counted after its row was deleted.
  let metrics = ''
  await until(async () => {
    metrics = await (await fetch(`${second.origin}/metrics`)).text()
    return /^push_attempts_total\{outcome="delivered"\} [1-9]/m.test(metrics)
  })
  t.match(metrics, /^push_attempts_total\{outcome="delivered"\} 1$/m)
  t.match(metrics, /^push_attempts_total\{outcome="gone"\} 0$/m)

  await fcm.down()
  for (let i = 0; i < 10; i += 1) await transfer(second)
  t.equal((await fetch(`${second.origin}/readyz`)).status, 200, 'nothing else is delayed')
  // The outbox is filled after the commit.
  await until(async () => (await waiting()) === 10)
  await fcm.up()
  await until(async () => (await waiting()) === 0)
  t.equal(new Set(fcm.received.map(({ message }) => JSON.stringify(message))).size, 12)

  fcm.answerAll('hang')
  const sent = fcm.received.length
  await transfer(second)
  await until(() => fcm.received.length > sent)
  second.kill('SIGTERM')
  t.equal(await second.exited, 0, 'a request that hangs does not keep it from stopping')
  t.equal(await waiting(), 1)

  const output = first.output() + second.output()
  for (const secret of [DEVICE, 'PRIVATE KEY', ...fcm.tokens]) t.notMatch(output, secret)
  t.same(fcm.violations, [])
})
