import { test } from 'tap'
import { openPool } from '../../src/db/pool.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

test('a pool warns of idle connections that break, unless it was ended', async (t) => {
  const { serviceUrl } = await testDatabase()
  const warnings: string[] = []
  const log = { warn: (_details: object, message: string) => warnings.push(message) }
  const pool = openPool(serviceUrl, { max: 2, application_name: 'pool under test' }, log)
  const [first, second] = await Promise.all([pool.connect(), pool.connect()])
  for (const client of [first, second]) client.release()
  first.emit('error', new Error('terminating connection due to administrator command'))
  t.same(warnings, ['idle database connection broke; the pool opens another one'])
  await pool.end()
  second.emit('error', new Error('terminating connection due to administrator command'))
  t.equal(warnings.length, 1)
})
