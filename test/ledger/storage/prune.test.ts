import { test } from 'tap'
import { pruneBatches } from '../../../src/db/queries/delete-older-rows.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { openTestPool } from '../../harness/postgres/connections.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('batch ids are deleted after an hour; newer ones stay', async (t) => {
  const database = await testDatabase()
  const pool = openTestPool(t, database.serviceUrl, 2)
  await queryRows(database, 'update passed_time set at = clock_timestamp()')
  // More than one statement can delete.
  await queryRows(
    database,
    `insert into ledger_batches
     select gen_random_uuid(), n, clock_timestamp() - case when n <= 6000 then interval '61 minutes' else interval '59 minutes' end
     from generate_series(1, 6005) as n`,
  )
  await Promise.all([pruneBatches(pool), pruneBatches(pool)])
  t.same(await queryRows(database, 'select count(*)::text from ledger_batches'), [{ count: '5' }])
})
