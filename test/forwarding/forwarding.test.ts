import { test } from 'tap'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { type ServiceProcess, startService, tokenIn } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'

async function metric({ origin }: ServiceProcess, name: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const isWriter = async (service: ServiceProcess): Promise<boolean> => (await metric(service, 'ledger_is_writer')) === 1
const forwarded = (service: ServiceProcess): Promise<number> => metric(service, 'ledger_forwarded_commands_total')
const served = (service: ServiceProcess): Promise<number> => metric(service, 'ledger_forwarding_instances')

const GIFT = '{"u_id":1,"decoration_id":3,"user_id":[2],"quantity":1,"room_id":1}'

test('the second instance forwards its commands to the first', { skip: onlyInFullRun }, async (t) => {
  const database = await testDatabase()
  const own = { DATABASE_URL: database.serviceUrl, DATA_DIR: temporaryFolder(t) }
  const writer = await startService(t, own)
  await until(() => isWriter(writer))
  const other = await startService(t, own)
  await until(async () => (await served(writer)) === 1)
  const as = (holder: string) => ({ authorization: `Bearer ${tokenIn(writer.output(), holder)}` })
  const json = { 'content-type': 'application/json' }
  const send = (service: ServiceProcess, body: string, key: string) =>
    fetch(`${service.origin}/api/v1/instant-send`, {
      method: 'POST',
      headers: { ...as('user 1'), ...json, 'idempotency-key': key },
      body,
    })
  const first = await send(other, GIFT, 'a')
  t.equal(first.status, 200)
  const text = await first.text()
  t.match(text, /OrderList/)
  t.equal(await forwarded(other), 1)
  const again = await send(writer, GIFT, 'a')
  t.equal(await again.text(), text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal((await send(other, GIFT.replace('[2]', '[77]'), 'b')).status, 422, 'a refusal')
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => send(i % 2 ? other : writer, GIFT, `c${i}`)))
  t.same(new Set(all.map(({ status }) => status)), new Set([200]))
  const gifts = await queryRows(database, `select count(*)::int as sent from ledger where type = 'gift-drawn'`)
  t.same(gifts, [{ sent: '101' }])

  // A change of mode, forwarded, is in force where it was requested before the answer.
  const setMode = (maintenance: boolean) =>
    fetch(`${other.origin}/admin/v1/app-mode`, {
      method: 'PUT',
      headers: { ...as('operator'), ...json },
      body: JSON.stringify({ maintenance }),
    })
  const before = await forwarded(other)
  for (const isOn of [true, false, true, false]) {
    t.equal((await setMode(isOn)).status, 200)
    t.equal((await fetch(`${other.origin}/v1/wallet`, { headers: as('user 1') })).status, isOn ? 503 : 200)
  }
  t.equal(await forwarded(other), before + 4)

  writer.kill('SIGTERM')
  await until(() => isWriter(other))
  t.equal(await writer.exited, 0)
  t.equal((await setMode(true)).status, 200)
})
