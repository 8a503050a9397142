import { pino } from 'pino'
import { test } from 'tap'
import { formatApprovals } from '../../src/config/approvals.ts'
import { openPool } from '../../src/db/pool.ts'
import { keepApprovals } from '../../src/startup/approvals.ts'
import { startHeartbeat } from '../../src/startup/background/instances.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'

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
  const log = pino({ level: 'silent' })
  const subscriberPool = openPool(database.serviceUrl, { max: 2, application_name: 'approvals under test' }, log)
  t.teardown(() => subscriberPool.end())
  /** What an instance that starts with these limits says, and what is kept. */
  const start = async (approvalLimits: Readonly<Record<string, number>> | null, isStandby = false) => {
    const warnings: string[] = []
    const database = { subscriberPool, promotion: { isStandby } }
    await keepApprovals(database, { approvalLimits }, { warn: (_details, line) => void warnings.push(line) })
    return warnings
  }
  const kept = () => queryRows(database, 'select settings from approval_settings')
  t.same(await start({ coins: 100 }), [])
  t.same(await kept(), [{ settings: `APPROVALS=on APPROVAL_LIMITS='{"coins":100}'` }])

  const others = new AsyncDisposableStack()
  t.teardown(() => others.disposeAsync())
  const identity = { id: '00000000-0000-4000-8000-000000000001', host: 'host', pid: 1, version: '1a2b3c4d' }
  const state = { role: 'writer', queue: 0, position: 0, sockets: 0 } as const
  startHeartbeat({ subscriberPool }, identity, () => state, log, others)
  await until(async () => (await queryRows(database, 'select from instances')).length === 1)
  t.same(await start({ bag: 0, coins: 100 }), [])
  t.same(await start({ coins: 101 }), ['instances with other limits of approvals run: restart them, too'])
  t.same(await kept(), [{ settings: `APPROVALS=on APPROVAL_LIMITS='{"coins":101}'` }])
  t.same(await start(null, true), [], 'a standby keeps nothing')
  await others.disposeAsync()
  t.same(await start(null), [])
  t.same(await kept(), [{ settings: 'APPROVALS=off' }])
})
