import { sql } from 'kysely'
import { pino } from 'pino'
import { test } from 'tap'
import { openPool } from '../../../src/db/pool.ts'
import { PreparedStatement, queryBuilder } from '../../../src/db/queries/query-builder.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const double = new PreparedStatement<{ readonly n: number }>('double a number', 'select 2 * $1::integer as n')

test('a prepared statement is prepared once on a connection, other statements are not', async (t) => {
  const { serviceUrl } = await testDatabase()
  const pool = openPool(serviceUrl, { max: 1, application_name: 'prepared' }, pino({ level: 'silent' }))
  const db = queryBuilder(pool)
  t.teardown(() => db.destroy())
  t.same(await double.execute(db, [4]), [{ n: 8 }])
  t.same(await double.execute(db, [5]), [{ n: 10 }])
  const { rows } = await sql<{ readonly name: string }>`
    select name, (generic_plans + custom_plans)::integer as executions from pg_prepared_statements`.execute(db)
  t.same(rows, [{ name: 'double a number', executions: 2 }])
})

test('two statements cannot have one name', async (t) => {
  t.throws(() => new PreparedStatement('double a number', 'select 2'), /two statements are named/)
})
