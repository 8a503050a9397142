import { test } from 'tap'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { startPgBouncer, withoutPgBouncer } from '../harness/postgres/pgbouncer.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { startService, tokenIn } from '../harness/process/service.ts'

const GIFT = '{"u_id":1,"decoration_id":1,"user_id":[2],"quantity":1,"room_id":1}'

test('the service runs behind PgBouncer in session mode', {
  skip: withoutPgBouncer || onlyInFullRun,
}, async (t) => {
  const { serviceUrl } = await testDatabase()
  const DATABASE_URL = await startPgBouncer(t, serviceUrl, 'session')
  const service = await startService(t, { DATABASE_URL })
  const authorization = `Bearer ${tokenIn(service.output(), 'user 1')}`
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'pooled' }
  const send = () => fetch(`${service.origin}/v1/instant-send`, { method: 'POST', headers, body: GIFT })
  const answers = [await send(), await send()]
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  )
  t.equal(answers[1]?.headers.get('idempotency-replayed'), 'true')
  for (const path of ['/readyz', '/v1/wallet', '/v1/rooms/R1', '/v1/bag']) {
    t.equal((await fetch(`${service.origin}${path}`, { headers: { authorization } })).status, 200, path)
  }
})
