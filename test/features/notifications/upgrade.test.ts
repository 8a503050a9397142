import { readFile } from 'node:fs/promises'
import { test } from 'tap'
import { splitStatements } from '../../../src/db/migrations/split-statements.ts'
import { rechain, tamper, verifyDatabase } from '../../audit/verify-database.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { inboxApp } from './inbox-fixture.ts'

const migration = new URL('../../../sql/0025-notifications.sql', import.meta.url)
const tables = ['notifications', 'notification_counts', 'notification_marks', 'notification_reads']

test('an upgrade lists what a rebuild of the same ledger would, as read', async (t) => {
  const { list, database } = await inboxApp(t)
  const before = await list(4)
  // The ledger as the previous version wrote it.
  await tamper(
    database,
    `update ledger_events set version = 1, data = regexp_replace(data, ',"by":"[a-z]+"', '')
     where type = 'withdrawal-status-changed'`,
    ...tables.map((table) => `delete from ${table}`),
  )
  await rechain(database)
  const [{ former } = {}] = await queryRows(
    database,
    `select count(*) as former from ledger_events where version = 1 and data like '%"from"%' and data not like '%"by"%'`,
  )
  t.equal(former, '4')

  const statements = splitStatements(await readFile(migration, 'utf8')).filter((text) => /^(--.*\n)*insert /.test(text))
  t.equal(statements.length, 4)
  await tamper(database, ...statements)
  t.same((await verifyDatabase(database)).findings, [])
  const after = await list(4)
  t.same(after.meta, { next_cursor: null, unread: 0 })
  t.same(
    after.data.map(({ read_at, ...rest }) => ({ ...rest, read_at: read_at === null })),
    before.data.map((one) => ({ ...one, read_at: false })),
  )
  t.same(
    await Promise.all([1, 2, 7, 9].map(async (id) => (await list(id)).data.length)),
    [2, 1, 1, 0],
    'those who did something are not notified of it',
  )
})
