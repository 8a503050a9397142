import { test } from 'tap'
import { foldAccounts } from '../../../src/audit/reports/fold-accounts.ts'
import { openPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('a database that lacks events of a report fails it', async (t) => {
  const { serviceUrl } = await testDatabase()
  const db = queryBuilder(openPool(serviceUrl, { max: 1, application_name: 'report under test' }))
  t.teardown(() => db.destroy())
  const context = { signal: new AbortController().signal, onPlanned: () => {}, onScanned: () => {} }
  await t.rejects(
    foldAccounts(db, { first: 1, last: 2_003 }, context, () => {}),
    { message: 'the ledger lacks 2000 of the events 1 to 2000' },
  )
})
