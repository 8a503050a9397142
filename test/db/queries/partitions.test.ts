import { test } from 'tap'
import { makePartitions } from '../../../src/db/queries/partitions.ts'
import { grantService } from '../../../src/db/roles.ts'
import { canChangeLedger } from '../../../src/db/safety.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { openClient, openTestPool } from '../../harness/postgres/connections.ts'
import { queryOnce } from '../../harness/postgres/query-once.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { testSchema } from '../../harness/postgres/test-schema.ts'

const partitionsOf = async (database: TestDatabase, table = 'ledger_events'): Promise<readonly string[]> =>
  (
    await queryRows(
      database,
      `select relid::regclass::text as name from pg_partition_tree('${table}') where isleaf order by length(relid::regclass::text), 1`,
    )
  ).map(({ name }) => String(name))

const event = (position: number | string): string =>
  `insert into ledger_events (position, type, version, data, movements, actor, at, request_id, hash)
   select position, case when position % 10 = 0 then 'gift-drawn' else 'noted' end, 1, '[]', '', 'user:1', now(), 'r', 'h'
   from generate_series(${position}) as position`

/** A ledger of three partitions of 2,000 positions each, and an empty one. */
async function smallPartitions(): Promise<TestDatabase> {
  const database = await testDatabase()
  await queryRows(database, 'drop table ledger_events_from_0; drop table ledger_events_from_50000000')
  for (const head of [0, 2_000, 4_000]) {
    await queryRows(database, `update ledger_head set position = ${head}; select make_ledger_partitions(2000)`)
  }
  await queryRows(database, `${event('1, 5999')}; analyze ledger_events`)
  return database
}

test('the partition after the one that the ledger ends in is made once, while commands run', async (t) => {
  const database = await testDatabase()
  const made = ['ledger_events_from_0', 'ledger_events_from_50000000']
  t.same(await partitionsOf(database), made)
  const running = await openClient(t, database.serviceUrl)
  await running.query(`begin; ${event('1, 3')}; update ledger_head set position = 50000000; commit`)
  await running.query(`begin; ${event('4, 5')}; select from ledger_events`)
  const pool = openTestPool(t, database.serviceUrl, 4)
  await Promise.all([1, 2, 3, 4].map(() => makePartitions(pool)))
  made.push('ledger_events_from_100000000')
  t.same(await partitionsOf(database), made)
  await running.query(`${event('50000000, 50000001')}; ${event('100000000, 100000000')}; commit`)
  await makePartitions(pool)
  t.same(await partitionsOf(database), made)
  t.same(
    await queryRows(
      database,
      'select tableoid::regclass::text as name, count(*)::int from ledger_events group by 1 order by 2 desc',
    ),
    [
      { name: 'ledger_events_from_0', count: '5' },
      { name: 'ledger_events_from_50000000', count: '2' },
      { name: 'ledger_events_from_100000000', count: '1' },
    ],
  )
})

test('no partition can be changed, by its own name either', async (t) => {
  const database = await smallPartitions()
  const tables = ['ledger_events', ...(await partitionsOf(database))]
  t.equal(tables.length, 5)
  const changes = (table: string): readonly string[] => [
    `update ${table} set type = 'x'`,
    `delete from ${table}`,
    `truncate ${table}`,
  ]
  await queryRows(database, event('6000, 6001'))
  for (const table of tables) {
    for (const change of changes(table)) {
      await t.rejects(queryRows(database, change), { code: '42501', message: /append-only/ }, change)
    }
    if (table === 'ledger_events') continue
    for (const attempt of [...changes(table), `select from ${table}`, `insert into ${table} default values`]) {
      await t.rejects(
        queryOnce(database.serviceUrl, attempt),
        { code: '42501', message: /^permission denied/ },
        attempt,
      )
    }
  }
})

test('a right of the service on a partition is found, and revoked at the next start', async (t) => {
  const database = await testDatabase()
  const service = await openClient(t, database.serviceUrl)
  for (const right of ['update', 'truncate', 'update (type)']) {
    await queryRows(database, `grant ${right} on ledger_events_from_50000000 to economy_service`)
    t.equal(await canChangeLedger(service), true, right)
    await grantService(database.ownerUrl, 'economy_service')
    t.equal(await canChangeLedger(service), false)
  }
})

test('partitions are made by the service and by nobody else, of the ledger alone', async (t) => {
  const database = await testDatabase()
  t.same(
    await queryRows(
      database,
      `select distinct grantee::regrole::text as role from pg_proc, aclexplode(proacl)
       where prosecdef and proowner = current_user::regrole and grantee <> proowner`,
    ),
    [{ role: 'economy_service' }],
  )
  await queryRows(database, 'update ledger_head set position = 60000000')
  const service = await openClient(t, database.serviceUrl)
  await service.query(
    `set search_path = pg_temp, ${testSchema};
     create temporary table ledger_events (position bigint); create temporary table ledger_head as select 0 as position`,
  )
  await makePartitions(service)
  t.ok((await partitionsOf(database)).includes('ledger_events_from_100000000'))
})

test('the ledger is read in order without sorting it, and without reading other partitions', async (t) => {
  const database = await smallPartitions()
  const service = await openClient(t, database.serviceUrl)
  await service.query('set plan_cache_mode = force_generic_plan')
  const reads: readonly (readonly [text: string, argument: number, tables: readonly number[]])[] = [
    ['select * from ledger_events where position > $1 order by position limit 100', 2_100, [2_000]],
    ['select min(position) from ledger_events where position > $1', 4_200, [4_000]],
    ['select max(position) from ledger_events where position < $1', 3_000, [2_000]],
    ['select hash from ledger_events where position >= $1 order by position desc limit 1', 1, [6_000, 4_000]],
    ['select hash from ledger_events where position = $1', 2_500, [2_000]],
    ['select * from ledger_events where position >= $1 order by position', 1, [0, 2_000, 4_000, 6_000]],
    [
      `select * from ledger_events where actor = 'user:1' and type = 'gift-drawn' and position < $1 order by position desc limit 10`,
      5_000,
      [4_000],
    ],
  ]
  for (const [text, argument, tables] of reads) {
    await service.query(`prepare read(bigint) as ${text}`)
    const { rows } = await service.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off, summary off) execute read(${argument})`,
    )
    await service.query('deallocate read')
    const plan = rows.map((row) => row['QUERY PLAN'])
    const scans = plan.filter((line) => line.includes(' Scan '))
    t.notMatch(plan.join('\n'), /Sort|Merge Append|Seq Scan/, text)
    t.same(
      scans
        .filter((line) => !line.includes('never executed'))
        .map((line) => Number(/ on ledger_events_from_(\d+)/.exec(line)?.[1])),
      tables,
      text,
    )
  }
})

/** The name of the partition of so many days ago. */
const replyDay = (daysAgo: number): string =>
  `replies_${new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '_')}`

const makeReplyDay = (database: TestDatabase, daysAgo: number): Promise<unknown> => {
  const [from, to] = [daysAgo, daysAgo - 1].map((days) => replyDay(days).slice(8).replaceAll('_', '-'))
  return queryRows(
    database,
    `create table ${replyDay(daysAgo)} partition of replies for values from ('${from} 00:00+00') to ('${to} 00:00+00');
     create unique index on ${replyDay(daysAgo)} (key)`,
  )
}

const reply = (hoursAgo: number): string =>
  `insert into replies select gen_random_uuid(), gen_random_uuid(), clock_timestamp() - interval '${hoursAgo} hours', 200, ''`

const OTHER_DAYS = 'replies_other_days'

test('replies have partitions for today and two days more, and days that ended 48 hours ago are dropped', async (t) => {
  const database = await testDatabase()
  const ahead = [replyDay(0), replyDay(-1), replyDay(-2)]
  t.same(await partitionsOf(database, 'replies'), [...ahead, OTHER_DAYS])
  for (const days of [1, 2, 3, 4]) await makeReplyDay(database, days)
  for (const hours of [0, 24, 48, 72, 96, 120]) await queryRows(database, reply(hours))
  await queryRows(database, `update passed_time set at = clock_timestamp() - interval '72 hours'`)
  const pool = openTestPool(t, database.serviceUrl, 4)
  await makePartitions(pool)
  const made = [4, 3, 2, 1].map(replyDay)
  t.same(await partitionsOf(database, 'replies'), [...made, ...ahead, OTHER_DAYS], 'a clock that jumped drops nothing')

  await queryRows(database, `drop table ${replyDay(-2)}; update passed_time set at = clock_timestamp()`)
  await Promise.all([1, 2, 3, 4].map(() => makePartitions(pool)))
  t.same(await partitionsOf(database, 'replies'), [...made.slice(2), ...ahead, OTHER_DAYS])
  t.same(await queryRows(database, 'select count(*) from replies'), [{ count: '3' }], 'and what no day had, deleted')
})

test('a day that began without its partition stays without it, and takes replies all the same', async (t) => {
  const database = await testDatabase()
  const [today, tomorrow, later] = [replyDay(0), replyDay(-1), replyDay(-2)]
  await queryRows(database, `drop table ${today}, ${later}; ${reply(0)}`)
  const pool = openTestPool(t, database.serviceUrl, 1)
  await makePartitions(pool)
  t.same(await partitionsOf(database, 'replies'), [tomorrow, later, OTHER_DAYS])
  await queryOnce(database.serviceUrl, reply(0))
  t.same(await queryRows(database, `select count(*) from ${OTHER_DAYS}`), [{ count: '2' }])
  await t.rejects(
    queryOnce(database.serviceUrl, `insert into replies select key, key, at, status, body from replies limit 1`),
    { code: '23505', table: OTHER_DAYS },
  )
})

test('partitions of replies do not wait for a long reader, and are made once it is gone', async (t) => {
  const database = await testDatabase()
  await queryRows(database, `drop table ${replyDay(-2)}`)
  await makeReplyDay(database, 3)
  const reader = await openClient(t, database.serviceUrl)
  await reader.query('begin; select from replies')
  await makePartitions(openTestPool(t, database.serviceUrl, 1))
  const before = await partitionsOf(database, 'replies')
  t.same(before, [replyDay(3), replyDay(0), replyDay(-1), OTHER_DAYS])
  await reader.query('commit')
  await makePartitions(reader)
  t.same(await partitionsOf(database, 'replies'), [replyDay(0), replyDay(-1), replyDay(-2), OTHER_DAYS])
  for (const table of before.slice(1)) {
    await t.rejects(queryOnce(database.serviceUrl, `select from ${table}`), { code: '42501' }, table)
  }
})
