import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { Client } from 'pg'
import { test } from 'tap'
import { beginsWith, isWord } from '../../src/db/queries/expressions.ts'
import { membersOf } from '../../src/features/rooms/reads.ts'
import { findPeople } from '../../src/features/users/reads.ts'
import { readDb } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { recordStatements } from '../harness/postgres/record-statements.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

const textOf = (rows: readonly Readonly<Record<string, unknown>>[]) => rows.map((row) => row['QUERY PLAN']).join('\n')

test('indexes serve searches and pages, in the order of the answer', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    // Names of rooms begin in many ways, as people choose them: what a beginning finds is then estimated alike in every sample.
    `insert into user_profiles
       select n, 'u' || n, 'Name ' || n, '', now(), now(), '', 'u' || n, 'name ' || n from generate_series(1, 20000) n;
     insert into room_memberships
       select 1, n, timestamptz '2026-01-01 00:00Z' + n * interval '1 s' from generate_series(1, 20000) n;
     insert into room_profiles
       select n, 'R' || n, md5(n::text), '', now() - n * interval '1 s', now(), 'test', 'r' || n, md5(n::text)
       from generate_series(1, 20000) n;
     analyze user_profiles; analyze room_memberships; analyze room_profiles`,
  )
  const db = readDb(t, database)
  const statements = recordStatements(t)
  const client = new Client({ connectionString: database.serviceUrl })
  await client.connect()
  t.teardown(() => client.end())
  // As the service plans its statements: before their values are known.
  await client.query('set plan_cache_mode = force_generic_plan')
  const planOf = async (name: string, text: string, values: string): Promise<string> => {
    await client.query(`prepare ${name} as ${text}`)
    return textOf((await client.query(`explain execute ${name} (${values})`)).rows)
  }

  await t.test('rooms by uid or the beginning of a name', async (t) => {
    const word = createHash('md5').update('5432').digest('hex').slice(0, 8)
    const { rows } = await sql<Record<string, unknown>>`
      explain select room_id from room_profiles p where (${isWord('p.uid_folded', word)} or ${beginsWith('p.name_folded', word)})
      order by p.created_at desc, p.room_id desc limit 51`.execute(db)
    const plan = textOf(rows)
    t.match(plan, /room_profiles_by_name/)
    t.match(plan, /room_profiles_by_uid/)
    t.notMatch(plan, /Seq Scan/)
  })

  await t.test('people by uid or the beginning of a name', async (t) => {
    await findPeople(db, 'name 12')
    const searches = statements.filter((text) => text.includes('user_profiles'))
    t.equal(searches.length, 2)
    for (const [i, text] of searches.entries()) {
      const plan = await planOf(`search_${i}`, text, `'name 12', 'name 12', 20`)
      t.match(plan, /Index Scan (using|on) user_profiles_by_(uid|name)/)
      t.notMatch(plan, /Seq Scan/)
    }
  })

  await t.test('members of a large room', async (t) => {
    const idsOf = async (cursor: readonly number[] | null) =>
      (await membersOf(db, 1, 3, cursor)).map(({ user_id }) => user_id)
    t.same(await idsOf(null), [20_000, 19_999, 19_998])
    t.same(await idsOf([(Date.UTC(2026, 0, 1) + 19_998_000) * 1_000, 19_998]), [19_997, 19_996, 19_995])
    const [page = ''] = statements.filter((text) => text.includes('room_memberships'))
    const plan = await planOf('page', page, '1, 3, 3')
    t.match(plan, /room_memberships_newest/)
    t.notMatch(plan, /Seq Scan|->  Sort/)
  })
})
