import { test } from 'tap'
import { openPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import { privilegeNotifier } from '../../../src/features/privilege/notifier.ts'
import { definePackage } from '../../../src/features/privilege/packages/define-package.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { cardGranted } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const moved = (position: number, from: number, to: number, of: number): PositionedEvent<'card-moved'> => ({
  type: 'card-moved',
  data: { card_id: 1, privilege_package_id: of, from_user_id: from, to_user_id: to },
  movements: [],
  position,
  at: FIXED_NOW,
})

test('receivers are notified of sender and package, in ledger order', async (t) => {
  const database = await testDatabase(t)
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  const pool = openPool(database.serviceUrl, { max: 2, application_name: 'test' })
  const db = queryBuilder(pool)
  t.teardown(() => db.destroy())
  const users = [
    { id: 1, name: 'Amina' },
    { id: 2, name: 'Badr' },
  ]
  await runOk(defineUsers, { users, listed: true })
  await runOk(definePackage, { privilege_package_id: 3, name: 'Gold', rank: 3, valid_days: 30 })

  const granted = { ...cardGranted(1, 3, 30), position: 5, at: FIXED_NOW }
  const notifications = await privilegeNotifier(db, [moved(4, 1, 2, 3), granted, moved(6, 2, 1, 3), moved(7, 9, 1, 8)])
  const about = { title: 'New privilege', type: 'reward', identifier: 'privilege-package-wallet' }
  t.same(notifications, [
    { position: 4, user_id: 2, notification: { ...about, body: 'Amina sent Gold to your privilege wallet.' } },
    { position: 6, user_id: 1, notification: { ...about, body: 'Badr sent Gold to your privilege wallet.' } },
    {
      position: 7,
      user_id: 1,
      notification: { ...about, body: 'Somebody sent a privilege to your privilege wallet.' },
    },
  ])
  t.same(await privilegeNotifier(db, [granted]), [])
})
