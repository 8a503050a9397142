import { test } from 'tap'
import { isAnyOf } from '../../../src/db/queries/expressions.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('any number of ids is one statement', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    `insert into room_profiles
     select n, 'R' || n, 'Room ' || n, '', now(), now(), 'user:1', 'r' || n, 'room ' || n from generate_series(1, 5) n`,
  )
  const db = readDb(t, database)
  const read = (ids: readonly number[]) =>
    db.selectFrom('room_profiles').select('room_id').where(isAnyOf('room_id', ids)).orderBy('room_id')
  const found = async (ids: readonly number[]) => (await read(ids).execute()).map(({ room_id }) => room_id)
  t.same(await found([]), [])
  t.same(await found([3]), [3])
  t.same(await found([9, 5, 2, 5]), [2, 5])
  t.equal(read([3]).compile().sql, read([9, 5, 2]).compile().sql)
})
