import { test } from 'tap'
import { checkEventTypes } from '../../src/startup/checks.ts'
import { seededLedger } from '../audit/seed-ledger.ts'
import { changed, tamper } from '../audit/verify-database.ts'
import { readDb } from '../harness/app/test-app.ts'
import { startService } from '../harness/process/service.ts'
import { indexUpTo } from '../ledger/indexes/index-fixture.ts'

test('a start is refused where the ledger has events that this version does not know', async (t) => {
  const database = await seededLedger()
  const db = readDb(t, database)
  await checkEventTypes(db)
  await indexUpTo(database, 5)
  await checkEventTypes(db)

  await tamper(database, changed(12, 'version = 2'), changed(14, `type = 'moon-given'`))
  const message =
    'The ledger has events that this version does not know: bag-items-added version 2, moon-given version 1. ' +
    'Start the version that wrote them, or a later one.'
  await t.rejects(checkEventTypes(db), { message }, 'before they are indexed')
  await indexUpTo(database, 22)
  await t.rejects(checkEventTypes(db), { message }, 'and after')

  const service = await startService(t, { DATABASE_URL: database.serviceUrl })
  t.equal(await service.exited, 1)
  t.match(service.output(), message)
})
