import { test } from 'tap'
import { formatApprovals } from '../../src/config/approvals.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { startService } from '../harness/process/service.ts'
import { dataDir } from '../harness/process/start-options.ts'

test('limits that mean the same are kept as the same text', (t) => {
  t.equal(formatApprovals(null), 'APPROVALS=off')
  const text = `APPROVALS=on APPROVAL_LIMITS='{"coins":1,"cards":2}'`
  t.equal(formatApprovals({ coins: 1, cards: 2 }), text)
  t.equal(formatApprovals({ cards: 2, bag: 0, coins: 1 }), text)
  t.equal(formatApprovals({}), `APPROVALS=on APPROVAL_LIMITS='{}'`)
  t.end()
})

test('an instance with other limits than those that run does not start', async (t) => {
  const database = await testDatabase(t)
  const own = { DATABASE_URL: database.serviceUrl, DATA_DIR: dataDir(t) }
  const on = { ...own, APPROVALS: 'on', APPROVAL_LIMITS: '{"coins":100}' }
  const first = await startService(t, on, await reservePort())
  const kept = () => queryRows(database, 'select settings from approval_settings')
  t.same(await kept(), [{ settings: `APPROVALS=on APPROVAL_LIMITS='{"coins":100}'` }])
  const others = [own, { ...on, APPROVAL_LIMITS: '{"coins":101}' }]
  for (const environment of others) {
    const refused = await startService(t, environment, await reservePort())
    t.equal(await refused.exited, 1)
    t.match(refused.output(), `are not those of the other instances, APPROVALS=on APPROVAL_LIMITS='{"coins":100}': set`)
  }
  const same = await startService(t, { ...on, APPROVAL_LIMITS: '{"bag":0,"coins":100}' }, await reservePort())
  t.match(same.output(), /^API /m)
  for (const service of [first, same]) {
    service.kill('SIGTERM')
    await service.exited
  }
  // As if the last start were some seconds ago.
  await queryRows(database, `update approval_settings set kept_at = kept_at - interval '1 minute'`)
  const changed = await startService(t, own, await reservePort())
  t.match(changed.output(), /^API /m)
  t.same(await kept(), [{ settings: 'APPROVALS=off' }])
})
