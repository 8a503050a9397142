import { Client } from 'pg'
import { test } from 'tap'
import { membersOf } from '../../../src/features/rooms/members/reads.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { recordStatements } from '../../harness/postgres/record-statements.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('a page of a large room is read from indexes in its order, whether its members are on the ledger or not', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    `insert into user_profiles (user_id, uid, name, avatar, created_at, updated_at, updated_by)
       select n, 'u' || n, 'Name ' || n, '', now(), now(), '' from generate_series(1, 20000) n;
     insert into room_members select 1, n, timestamptz '2026-01-01' + n * interval '1 s' from generate_series(1, 20000, 2) n;
     insert into room_memberships
       select 1, n, timestamptz '2026-01-01' + n * interval '1 s' from generate_series(2, 20000, 2) n;
     analyze user_profiles; analyze room_members; analyze room_memberships`,
  )
  const db = readDb(t, database)
  const statements = recordStatements(t)
  const idsOf = async (cursor: readonly number[] | null) =>
    (await membersOf(db, 1, 3, cursor)).map(({ user_id }) => user_id)
  t.same(await idsOf(null), [20_000, 19_999, 19_998])
  t.same(await idsOf([(Date.UTC(2026, 0, 1) + 19_998_000) * 1_000, 19_998]), [19_997, 19_996, 19_995])
  const [page = ''] = statements.filter((text) => text.includes('room_memberships'))
  const client = new Client({ connectionString: database.serviceUrl })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`prepare page as ${page}`)
  const { rows } = await client.query('explain execute page (1, 3, 1, 3, 3)')
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.match(plan, /room_memberships_newest/)
  t.match(plan, /room_members_newest/)
  t.notMatch(plan, /Seq Scan|->  Sort/)
})
