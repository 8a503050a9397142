import { test } from 'tap'
import { runAudit } from '../audit/run-audit.ts'
import { startPgBouncer, withoutPgBouncer } from '../harness/postgres/pgbouncer.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { startService, tokenIn } from '../harness/process/service.ts'
import { dataDir } from '../harness/process/start-options.ts'

const GIFT = '{"u_id":1,"decoration_id":1,"user_id":[2],"quantity":1,"room_id":1}'

test('the service runs behind PgBouncer in session mode', { skip: withoutPgBouncer }, async (t) => {
  const { serviceUrl } = await testDatabase()
  const DATABASE_URL = await startPgBouncer(t, serviceUrl, 'session')
  const service = await startService(t, { DATABASE_URL, DATA_DIR: dataDir(t) }, await reservePort())
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

test('behind a pooler that shares sessions the service and the audit refuse to start', {
  skip: withoutPgBouncer,
}, async (t) => {
  const { serviceUrl } = await testDatabase()
  const DATA_DIR = dataDir(t)
  for (const mode of ['transaction', 'statement'] as const) {
    const pooled = await startPgBouncer(t, serviceUrl, mode)
    t.match(await runAudit({ DATABASE_URL: pooled }, 'verify'), {
      code: 2,
      err: /^audit could not run: DATABASE_URL cannot be used: a pooler in between shares sessions /,
    })
    for (const env of [{ DATABASE_URL: pooled }, { DATABASE_URL: serviceUrl, DATABASE_READ_URL: pooled }]) {
      const service = await startService(t, { ...env, DATA_DIR }, await reservePort())
      t.equal(await service.exited, 1, mode)
      const variable = 'DATABASE_READ_URL' in env ? 'DATABASE_READ_URL' : 'DATABASE_URL'
      t.match(
        service.output(),
        new RegExp(`^${variable} cannot be used: a pooler in between shares sessions .* Set pool_mode to session`, 'm'),
      )
    }
  }
})
