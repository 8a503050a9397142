import { test } from 'tap'
import { openPool } from '../../src/db/pool.ts'
import { eventsAfter } from '../../src/ledger/storage/stored-event.ts'
import { unreadOnly } from '../../src/notifications/notifier.ts'
import { Outbox } from '../../src/notifications/outbox.ts'
import { outboxSubscriber } from '../../src/notifications/subscribers.ts'
import { notifier } from '../../src/slices.ts'
import { agencyApp, dataOf, gold, requests, transfers } from '../features/agency/agency-fixture.ts'
import { readDb } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { log } from './outbox-fixture.ts'

test('all notifications are queued once for each device, but none that was read', async (t) => {
  const { user, operator, database } = await agencyApp(t)
  const pool = openPool(database.serviceUrl, { max: 2, application_name: 'push under test' }, log)
  t.teardown(() => pool.end())
  for (const id of [1, 4]) await user(id)('POST', '/api/v1/devices', { token: `device-${id}`, platform: 'ios' })
  const asked = dataOf(await user(1)('POST', `${requests}/request`, { ...gold, user_notice: 'a private notice' }))
  const change = { status: 'approved', note: 'a private note' }
  await user(4)('POST', `${requests}/${asked.id}/status`, change)
  await operator('POST', `/admin/v1/withdrawals/${asked.id}/status`, { status: 'transferred', note: 'a private note' })
  await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 })
  await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 1 })

  const outbox = new Outbox(pool)
  const subscriber = outboxSubscriber(readDb(t, database), unreadOnly(notifier), outbox, { wake: () => {} }, log)
  const events = await eventsAfter(pool, 0, 500)
  const queued = async (): Promise<unknown[]> =>
    (await queryRows(database, 'select token, notification from push_outbox order by position, token')).map(
      ({ token, notification }) => {
        const { body, identifier, withdrawal_id } = JSON.parse(String(notification))
        return [token, identifier, withdrawal_id, body]
      },
    )
  t.equal(await subscriber(events), true)
  const all = [
    ['device-4', 'agency-withdrawal', asked.id, 'User 1 sent you a withdrawal request for 20 dollars.'],
    ['device-1', 'agency-withdrawal', asked.id, 'User 4 approved your withdrawal of 20 dollars.'],
    ['device-1', 'agency-withdrawal', asked.id, 'Your withdrawal of 20 dollars was transferred.'],
    [
      'device-4',
      'agency-withdrawal',
      asked.id,
      'The withdrawal of 20 dollars that User 1 requested from you was transferred.',
    ],
    ['device-4', 'instant-transfer', undefined, 'User 1 sent you 13,000 diamonds.'],
  ]
  t.same(await queued(), all)
  await subscriber(events)
  t.same(await queued(), all, 'events that are repeated add nothing')

  await queryRows(database, 'delete from push_outbox')
  await user(4)('POST', '/api/v1/notifications/read', { up_to: asked.id })
  await user(1)('POST', '/api/v1/notifications/read', { up_to: Number.MAX_SAFE_INTEGER })
  await subscriber(events)
  t.same(await queued(), all.slice(3), 'what was read is not pushed')
})
