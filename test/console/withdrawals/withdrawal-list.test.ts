import { type Kysely, sql } from 'kysely'
import { pino } from 'pino'
import { test } from 'tap'
import { withdrawalList } from '../../../src/console/withdrawals/withdrawal-list.ts'
import { openReportDatabase } from '../../../src/db/queries/query-builder.ts'
import type { Tables } from '../../../src/db/tables.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const COUNT = 20_000
const WAITING = 40
/** A text that is asked again has a name, and from the sixth run of that on PostgreSQL may plan it without its values. */
const READS = 8

/** Rows of the table that this connection has looked at and PostgreSQL has not yet added to its statistics. */
async function countSeen(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ seen: number }>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as seen from pg_stat_xact_user_tables
    where relname = 'withdrawals' and schemaname = current_schema()`.execute(db)
  return rows[0]?.seen ?? 0
}

test('the queue reads what waits, and not all requests that there ever were', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    `insert into withdrawals
     select n, 'cash', case when n % (${COUNT} / ${WAITING}) = 0 then 'pending' else 'transferred' end, n % 500, 7, null, 1,
            'dollars', 100, null, null, null, now(), now(), n + 100
     from generate_series(1, ${COUNT}) n`,
  )
  await queryRows(database, 'analyze withdrawals')
  const db = openReportDatabase(database.serviceUrl, 'reports under test', pino({ level: 'silent' }))
  t.teardown(() => db.destroy())

  /** The rows of a page that is read again and again, and how many rows of the table were looked at for one at most. */
  const read = async (
    query: Parameters<typeof withdrawalList.read>[0]['query'],
    at: number,
    planMode: 'auto' | 'force_generic_plan' = 'auto',
  ) => {
    let ids: number[] = []
    let mostSeen = 0
    for (let i = 0; i < READS; i += 1) {
      await db.transaction().execute(async (trx) => {
        await sql`set local plan_cache_mode = ${sql.raw(planMode)}`.execute(trx)
        const before = await countSeen(trx)
        const { rows } = await withdrawalList.read({ query, db: trx, at, cursor: null, limit: 50 }, Object(null))
        ids = rows.map(({ id }) => id)
        mostSeen = Math.max(mostSeen, (await countSeen(trx)) - before)
      })
    }
    return { ids, seen: mostSeen }
  }

  const waiting = await read({}, COUNT + 100)
  t.equal(waiting.ids.length, WAITING)
  t.ok(waiting.seen < 10 * WAITING, `${waiting.seen} rows were looked at`)
  for (const query of [
    { status: 'pending' },
    { status: 'approved' },
    { user: '1' },
    { status: 'pending', type: 'cash', user: '1', agent: '7' },
  ] as const) {
    const { seen } = await read(query, COUNT + 100)
    t.ok(seen < 10 * WAITING, `${JSON.stringify(query)}: ${seen} rows were looked at`)
  }
  // In a plan that is made before the values are known, too.
  const ofUser = await read({ status: 'all', user: '1' }, COUNT + 100, 'force_generic_plan')
  t.equal(ofUser.ids.length, COUNT / 500)
  t.ok(ofUser.seen < 10 * WAITING, `${ofUser.seen} rows were looked at for a user`)

  const earlier = await read({}, COUNT - 99)
  t.equal(earlier.ids.length, 50, 'those that changed since waited then')
  t.ok(earlier.seen < 1_000, `${earlier.seen} rows were looked at for an earlier position`)
})
