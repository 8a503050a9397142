import { test } from 'tap'
import { token } from '../harness/app/minimal-app.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { startService, tokenIn } from '../harness/process/service.ts'
import { production } from '../harness/process/start-options.ts'

const { FAIRNESS_KEY, PII_KEY, CHECKPOINT_KEY } = production

/** The environment of a shell that is set up for psql and another database. */
const psqls = {
  PGHOST: '127.0.0.2',
  PGPORT: '1',
  PGDATABASE: 'nowhere',
  PGUSER: 'nobody',
  PGPASSWORD: 'another',
  PGSERVICE: 'elsewhere',
  PGSSLMODE: 'require',
  PGSSLNEGOTIATION: 'direct',
  PGREPLICATION: 'database',
  PGCLIENT_ENCODING: 'LATIN1',
  PGOPTIONS: '-c datestyle=German -c default_transaction_read_only=on -c search_path=nowhere',
}

test('a service finishes accepted requests before it stops, and prints no tokens after a restart in production', async (t) => {
  const database = await testDatabase()
  const own = { DATABASE_URL: database.serviceUrl, DATA_DIR: temporaryFolder(t) }
  const port = await reservePort()
  const service = await startService(t, { ...own, ...psqls, FAIRNESS_KEY, PII_KEY, CHECKPOINT_KEY }, port)
  t.match(service.output(), `API            http://127.0.0.1:${port}/api/v1\n`)
  t.match(service.output(), `Documentation  http://127.0.0.1:${port}/docs\n`)
  const { origin } = service
  t.equal((await fetch(`${origin}/readyz`)).status, 200)
  t.equal((await fetch(`${origin}/docs/json`)).status, 200)

  const headers = { authorization: `Bearer ${tokenIn(service.output(), 'user 1')}`, 'content-type': 'application/json' }
  t.equal((await fetch(`${origin}/v1/wallet/`, { headers })).status, 200)
  const room: unknown = await (await fetch(`${origin}/v1/rooms/R1`, { headers })).json()
  t.match(room, { data: { members_count: 3, active_roulette_game: null } }, 'the demo has a room with members')
  const operator = { authorization: `Bearer ${tokenIn(service.output(), 'operator')}` }
  t.equal((await fetch(`${origin}/admin/v1/users/1`, { headers: operator })).status, 200)

  const send = () =>
    fetch(`${origin}/api/v1/instant-send`, {
      method: 'POST',
      headers,
      body: '{"u_id":1,"decoration_id":1,"user_id":[2],"quantity":1,"room_id":1}',
    }).then(({ status }) => status)
  const sent = Array.from({ length: 50 }, send)
  t.equal(await Promise.race(sent), 200)
  service.kill('SIGTERM')
  service.kill('SIGTERM')
  // A connection that the service had not accepted yet is reset; all accepted requests are answered.
  const answered = (await Promise.allSettled(sent)).filter((result) => result.status === 'fulfilled')
  t.same(new Set(answered.map(({ value }) => value)), new Set([200]))
  const gifts = await queryRows(database, `select count(*)::int as sent from ledger where type = 'gift-sent'`)
  t.same(gifts, [{ sent: String(answered.length) }])
  t.equal(await service.exited, 0)
  await t.rejects(fetch(`${origin}/healthz`))

  const restarted = await startService(t, { ...production, ...own })
  t.equal((await fetch(`${restarted.origin}/readyz`)).status, 200)
  t.match(await (await fetch(`${restarted.origin}/metrics`)).text(), /^process_cpu_seconds_total \d/m)
  t.notMatch(restarted.output(), /Tokens|eyJ/)
  t.match(
    restarted.output(),
    /"level":40.*"\/metrics \(METRICS_TOKEN .*"\/docs \(DOCS=off .*operators' routes are open to everyone/,
  )
  const hanging = fetch(`${restarted.origin}/api/v1/instant-send`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token({ sub: '1' }, production.JWT_SECRET)}`,
      'content-type': 'application/json',
    },
    body: new ReadableStream({ pull: (stream) => new Promise(() => stream.enqueue(new Uint8Array(1))) }),
    duplex: 'half',
  }).catch(() => {})
  t.equal((await fetch(`${restarted.origin}/healthz`)).status, 200)
  restarted.kill('SIGTERM')
  t.equal(await restarted.exited, 0, 'a client that never finishes does not keep it from stopping')
  await hanging
})
