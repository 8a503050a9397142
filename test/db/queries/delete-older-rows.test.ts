import { test } from 'tap'
import { openPool } from '../../../src/db/pool.ts'
import { deleteOlderRows } from '../../../src/db/queries/delete-older-rows.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('older rows are deleted in chunks, by several instances at once', async (t) => {
  const database = await testDatabase()
  const pool = openPool(database.serviceUrl, { max: 2, application_name: 'delete-older-rows' })
  t.teardown(() => pool.end())
  await queryRows(
    database,
    `insert into live_announcements (channel, position, prev, at)
     select 'room:1', i, null, now() - case when i <= 12000 then interval '1 hour' else interval '1 minute' end
     from generate_series(1, 12003) i`,
  )
  const counts: number[] = []
  const query = pool.query.bind(pool)
  Reflect.set(pool, 'query', async (text: string, values: unknown[]) => {
    const result = await query(text, values)
    if (text.startsWith('delete')) counts.push(result.rowCount ?? 0)
    return result
  })
  const deleteOld = () => deleteOlderRows(pool, 'live_announcements', '12 minutes')
  await Promise.all([deleteOld(), deleteOld()])
  t.same(await queryRows(database, 'select position from live_announcements order by position'), [
    { position: '12001' },
    { position: '12002' },
    { position: '12003' },
  ])
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    12_000,
  )
  t.ok(Math.max(...counts) <= 5_000, counts.join(' '))
})
