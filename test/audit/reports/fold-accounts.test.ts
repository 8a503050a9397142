import { test } from 'tap'
import { foldAccounts } from '../../../src/audit/reports/fold-accounts.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('a database that lacks events of a report fails it', async (t) => {
  const { serviceUrl } = await testDatabase()
  const db = readDb(t, { serviceUrl })
  const context = { signal: new AbortController().signal, onPlanned: () => {}, onScanned: () => {} }
  await t.rejects(
    foldAccounts(db, { first: 1, last: 2_003 }, context, () => {}),
    { message: 'the ledger lacks 2000 of the events 1 to 2000' },
  )
})
