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

test('the limits of the last start are kept, and an instance says that others run with other ones', async (t) => {
  const database = await testDatabase()
  const own = { DATABASE_URL: database.serviceUrl, DATA_DIR: dataDir(t) }
  const on = { ...own, APPROVALS: 'on', APPROVAL_LIMITS: '{"coins":100}' }
  const first = await startService(t, on, await reservePort())
  const kept = () => queryRows(database, 'select settings from approval_settings')
  t.same(await kept(), [{ settings: `APPROVALS=on APPROVAL_LIMITS='{"coins":100}'` }])
  t.notMatch(first.output(), 'other limits of approvals')
  const same = await startService(t, { ...on, APPROVAL_LIMITS: '{"bag":0,"coins":100}' }, await reservePort())
  t.notMatch(same.output(), 'other limits of approvals')
  const changed = await startService(t, { ...on, APPROVAL_LIMITS: '{"coins":101}' }, await reservePort())
  t.match(changed.output(), 'instances with other limits of approvals run')
  t.same(await kept(), [{ settings: `APPROVALS=on APPROVAL_LIMITS='{"coins":101}'` }])
  for (const service of [first, same, changed]) {
    service.kill('SIGTERM')
    await service.exited
  }
  const alone = await startService(t, own, await reservePort())
  t.notMatch(alone.output(), 'other limits of approvals')
  t.same(await kept(), [{ settings: 'APPROVALS=off' }])
})
