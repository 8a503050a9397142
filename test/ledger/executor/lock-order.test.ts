import { test } from 'tap'
import { connect } from '../../../src/db/connect.ts'
import { addBagItems } from '../../../src/features/gifts/bag/add-bag-items.ts'
import { defineDecoration } from '../../../src/features/gifts/catalogue/define-decoration.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { defineRoom } from '../../../src/features/rooms/define-room.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { genesis } from '../../../src/ledger/storage/genesis.ts'
import { createTestExecutor, testChains, testOpening } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

test('a transaction that waits for the head holds no row that the holder of the head may need', async (t) => {
  const database = await testDatabase()
  const { runOk, run, failures } = createTestExecutor(t, database.serviceUrl)
  await runOk(genesis, testOpening)
  await runOk(defineUsers, { listed: true, users: [1, 2].map((id) => ({ id })) })
  await runOk(defineRoom, { id: 1, uid: 'R1', owner_id: 2 })
  await runOk(defineDecoration, { decoration_id: 1, name: 'rose', kind: 'standard', price: 10 })
  await runOk(addBagItems, { user_id: 1, decoration_id: 1, quantity: 1, reason: 'test' })

  const other = await connect(database.ownerUrl, 'test')
  t.teardown(() => other.end())
  await other.query('begin; select from ledger_head for update')
  // The last item: its row is deleted. No other instance has written, so that this is sent in optimistic mode.
  const sending = run(sendGift({ chains: testChains, ownerPercent: 0 }), {
    caller_id: 1,
    sender_id: 1,
    decoration_id: 1,
    receiver_ids: [2],
    quantity: 1,
    room: 1,
    from_bag: true,
    encrypted: false,
  })
  // A session of the same role sees what it waits for.
  const watcher = await connect(database.serviceUrl, 'test')
  t.teardown(() => watcher.end())
  await until(async () => {
    const { rowCount } = await watcher.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rowCount === 1
  })
  await t.resolves(other.query('select from bag_items for update nowait'))
  await other.query('rollback')
  t.match(await sending, { reply: { status: 200 } })
  t.same(failures, [])
})
