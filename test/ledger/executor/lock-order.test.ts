import { test } from 'tap'
import { addBagItems } from '../../../src/features/gifts/bag.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { until } from '../../harness/until.ts'
import { giftLedger, rose, send } from './gift-ledger.ts'

test('a transaction that waits for the head locks no row that the owner of the head may need', async (t) => {
  const { database, one } = await giftLedger(t, 1)
  await one.runOk(addBagItems, { user_id: 1, decoration_id: 1, quantity: 1, reason: 'test' })

  const other = await openClient(t, database.ownerUrl)
  await other.query('begin; select from ledger_head for update')
  // The last item: its row is deleted. No other instance has written, so that this is sent in optimistic mode.
  const sending = one.run(send, { ...rose(), from_bag: true })
  // A session of the same role sees what it waits for.
  const watcher = await openClient(t, database.serviceUrl)
  await until(async () => {
    const { rowCount } = await watcher.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rowCount === 1
  })
  await t.resolves(other.query('select from bag_items for update nowait'))
  await other.query('rollback')
  t.match(await sending, { reply: { status: 200 } })
  t.same(one.failures, [])
})
