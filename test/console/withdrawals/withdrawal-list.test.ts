import { sql } from 'kysely'
import { test } from 'tap'
import { withdrawalList } from '../../../src/console/withdrawals/withdrawal-list.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const COUNT = 20_000
const WAITING = 40

test('the queue reads what waits, and not all requests that there ever were', async (t) => {
  const database = await testDatabase(t)
  await queryRows(
    database,
    `insert into withdrawals
     select n, 'cash', case when n % (${COUNT} / ${WAITING}) = 0 then 'pending' else 'transferred' end, n % 500, 7, null, 1,
            'dollars', 100, null, null, null, now(), now(), n + 100
     from generate_series(1, ${COUNT}) n`,
  )
  await queryRows(database, 'analyze withdrawals')
  const db = readDb(t, database)

  /** The rows of a page, and how many rows of the table were looked at for it. */
  const read = (query: Parameters<typeof withdrawalList.read>[0]['query'], at: number) =>
    db.transaction().execute(async (trx) => {
      const { rows } = await withdrawalList.read({ query, db: trx, at, cursor: null, limit: 50 }, Object(null))
      const { rows: counts } = await sql<{ seen: number }>`
        select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as seen from pg_stat_xact_user_tables
        where relname = 'withdrawals' and schemaname = current_schema()`.execute(trx)
      return { ids: rows.map(({ id }) => id), seen: counts[0]?.seen ?? 0 }
    })

  const waiting = await read({}, COUNT + 100)
  t.equal(waiting.ids.length, WAITING)
  t.ok(waiting.seen < 10 * WAITING, `${waiting.seen} rows were looked at`)
  t.ok((await read({ status: 'pending' }, COUNT + 100)).seen < 10 * WAITING)
  t.ok((await read({ status: 'approved' }, COUNT + 100)).seen < 10 * WAITING)

  const earlier = await read({}, COUNT - 99)
  t.equal(earlier.ids.length, 50, 'those that changed since waited then')
  t.ok(earlier.seen < 1_000, `${earlier.seen} rows were looked at for an earlier position`)
})
