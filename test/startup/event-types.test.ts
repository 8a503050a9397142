import { test } from 'tap'
import { checkEventTypes } from '../../src/startup/checks.ts'
import { seededLedger } from '../audit/seed-ledger.ts'
import { readDb } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { startService } from '../harness/process/service.ts'

test('a start is refused where the ledger has events that this version does not know', async (t) => {
  const database = await seededLedger()
  const db = readDb(t, database)
  const types = (table: string) => queryRows(database, `select distinct type, version from ${table} order by 1, 2`)
  t.same(await types('event_types'), await types('ledger_events'), 'written with the first event of each')
  await checkEventTypes(db)

  await queryRows(
    database,
    `insert into event_types values ('bag-items-added', 2, '{user_id}'), ('moon-given', 1, '{moon_id,user_id}')`,
  )
  const message =
    'The ledger has events that this version does not know: bag-items-added version 2, moon-given version 1. ' +
    'Start the version that wrote them, or a later one; npm run audit -- verify --full tells whether there are such events.'
  await t.rejects(checkEventTypes(db), { message })

  const service = await startService(t, { DATABASE_URL: database.serviceUrl })
  t.equal(await service.exited, 1)
  t.match(service.output(), message)
})
