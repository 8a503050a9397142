import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { test } from 'tap'
import { connect } from '../../../src/db/connect.ts'
import { migrate } from '../../../src/db/migrations/migrate.ts'
import { queryRows } from '../../harness/postgres/query-rows.ts'
import { emptyDatabase, testDatabase } from '../../harness/postgres/test-database.ts'

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

test('members who join and leave concurrently in many sessions are all counted', async (t) => {
  const { serviceUrl } = await testDatabase()
  const session = async (n: number): Promise<void> => {
    const client = await connect(serviceUrl, 'test')
    t.teardown(() => client.end())
    const statements = Array.from({ length: 30 }, (_, i) => {
      const user = 1 + ((n * 7 + i) % 10)
      // Several rooms in one statement, in an order that differs from session to session.
      const rooms = `(select r from generate_series(1, 3) r order by r * ${n % 2 === 0 ? 1 : -1})`
      return i % 3 === 2
        ? `delete from room_members where user_id = ${user}`
        : `insert into room_members select r, ${user} from ${rooms} on conflict do nothing`
    })
    for (const statement of statements) {
      // Two that write the same members in different orders may deadlock; one of them is retried.
      for (;;) {
        try {
          await client.query(statement)
          break
        } catch (error) {
          if (!String(error).includes('deadlock')) throw error
        }
      }
    }
  }
  await Promise.all(Array.from({ length: 6 }, (_, n) => session(n)))
  t.same(await counts(serviceUrl), await counted(serviceUrl))
  t.equal((await counts(serviceUrl)).length, 3)
})

test('rooms that had members before are counted by the migration', async (t) => {
  const { ownerUrl } = await emptyDatabase()
  const own = fileURLToPath(new URL('../../../sql/', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const add = (isWanted: (name: string) => boolean): void => {
    for (const name of readdirSync(own).filter((file) => file.endsWith('.sql') && isWanted(file))) {
      copyFileSync(join(own, name), join(folder, name))
    }
  }
  add((name) => name < '0016')
  await migrate(ownerUrl, pathToFileURL(`${folder}/`))
  await queryRows(
    ownerUrl,
    'insert into room_members select r, u from generate_series(1, 2) r, generate_series(1, 10 * r) u',
  )
  add((name) => name >= '0016')
  await migrate(ownerUrl, pathToFileURL(`${folder}/`))
  await queryRows(ownerUrl, 'insert into room_members values (1, 11)')
  t.same(await counts(ownerUrl), [
    { room_id: '1', members: 11 },
    { room_id: '2', members: 20 },
  ])
})
