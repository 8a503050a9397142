import { test } from 'tap'
import { queryRows } from '../../harness/postgres/query-rows.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const counts = (url: string) =>
  queryRows(
    url,
    'select room_id, sum(members)::int as members from room_member_counts group by room_id order by room_id',
  )
const counted = (url: string) =>
  queryRows(
    url,
    `select room_id, count(m.user_id)::int as members
     from (select distinct room_id from room_member_counts) as known left join room_members m using (room_id)
     group by room_id order by room_id`,
  )

test('every statement that changes former members changes their count', async (t) => {
  const { ownerUrl, serviceUrl } = await testDatabase()
  const rows: readonly (readonly [statement: string, members: readonly number[]])[] = [
    ['insert into room_members select r, u from generate_series(1, 3) r, generate_series(1, 4) u', [4, 4, 4]],
    ['insert into room_members values (1, 4), (1, 5) on conflict do nothing', [5, 4, 4]],
    ['delete from room_members where user_id = 4', [4, 3, 3]],
    ['update room_members set room_id = 3 where room_id = 1 and user_id = 5', [3, 3, 4]],
    ['update room_members set joined_at = now()', [3, 3, 4]],
    ['delete from room_members where room_id = 2', [3, 0, 4]],
  ]
  for (const [statement, expected] of rows) {
    await queryRows(serviceUrl, statement)
    const members = expected.map((count, i) => ({ room_id: String(i + 1), members: count }))
    t.same(await counts(serviceUrl), members, statement)
    t.same(await counted(serviceUrl), members, statement)
  }
  await t.rejects(queryRows(serviceUrl, 'update room_member_counts set members = 0'), { message: /permission denied/ })
  await queryRows(ownerUrl, 'truncate room_members')
  t.same(await counts(serviceUrl), [])
})
