import { test } from 'tap'
import { deleteOlderRows } from '../../../src/db/queries/delete-older-rows.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { openTestPool } from '../../harness/postgres/connections.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('older rows are deleted in chunks, by several instances at once', async (t) => {
  const database = await testDatabase()
  const pool = openTestPool(t, database.serviceUrl, 2)
  await queryRows(database, 'update passed_time set at = clock_timestamp()')
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

test('a clock that jumped deletes nothing before half of its time has really passed', async (t) => {
  const database = await testDatabase()
  const HOUR = 3_600_000
  let ms = 0
  const clock = { now: () => ms }
  const instance = () => {
    const pool = openTestPool(t, database.serviceUrl, 1)
    return () => deleteOlderRows(pool, 'told_clients', '48 hours', clock)
  }
  let instances: readonly (() => Promise<void>)[] = []
  const kept = async (): Promise<boolean> => (await queryRows(database, 'select 1 as one from told_clients')).length > 0
  const write = () =>
    queryRows(
      database,
      `delete from told_clients; insert into told_clients (token_key, told_at) values ('key', clock_timestamp())`,
    )
  /** What two instances then find when the database's clock has jumped ahead: all that was written is so much older. */
  const jump = async (hours: number): Promise<void> => {
    instances = [instance(), instance()]
    await queryRows(
      database,
      `update told_clients set told_at = told_at - interval '${hours} hours'; update passed_time set at = at - interval '${hours} hours'`,
    )
  }
  const both = async (hours: number): Promise<void> => {
    ms += hours * HOUR
    for (const prune of instances) await prune()
  }
  await queryRows(database, 'update passed_time set at = clock_timestamp()')
  await write()
  await jump(72)
  await both(0)
  t.ok(await kept(), 'at the jump')
  await both(12)
  await both(11)
  t.ok(await kept(), 'after 23 hours')
  await both(2)
  t.notOk(await kept(), 'when two days may have passed')

  await both(1_000)
  await write()
  await jump(-72)
  await write()
  await both(0)
  t.ok(await kept(), 'a clock that went back')
  const rows = await queryRows(database, 'select (at <= clock_timestamp())::text as behind from passed_time')
  t.same(rows, [{ behind: 'true' }])
})
