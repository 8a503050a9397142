import { test } from 'tap'
import { formatApprovals } from '../../src/config/approvals.ts'
import { loadConfig } from '../../src/config/config.ts'
import { setApprovals } from '../../src/features/proposals/approval-limits.ts'
import { checkApprovals } from '../../src/startup/checks.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { readDb } from '../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { startService } from '../harness/process/service.ts'

test('limits that mean the same are the same text', async (t) => {
  t.equal(formatApprovals(null), 'APPROVALS=off')
  const text = `APPROVALS=on APPROVAL_LIMITS='{"coins":1,"cards":2}'`
  t.equal(formatApprovals({ coins: 1, cards: 2 }), text)
  t.equal(formatApprovals({ cards: 2, bag: 0, coins: 1 }), text)
  t.equal(formatApprovals({}), `APPROVALS=on APPROVAL_LIMITS='{}'`)
})

test('a start takes what the ledger says of approvals, and is refused with anything else', async (t) => {
  const database = await testDatabase()
  const db = readDb(t, database)
  const ledger = createTestExecutor(t, database.serviceUrl)
  /** What a start with these settings warns of, or why it is refused. */
  const start = async (APPROVALS: string, APPROVAL_LIMITS = '', production = false): Promise<string> => {
    const lines: string[] = []
    const { approvals } = loadConfig({ APPROVALS, APPROVAL_LIMITS })
    const log = { warn: (_details: object, line: string) => void lines.push(line) }
    try {
      await checkApprovals(db, { approvals, production }, log)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    return lines.join('\n')
  }
  const refused = (variable: string, kept: string): string => `${variable} differs from what the ledger says: ${kept}. `
  t.equal(await start(''), '')
  t.equal(await start('', '{"coins":1}'), '')
  t.equal(await start('off', '{"coins":1}'), '')
  t.match(await start('', '', true), /^approvals are off: /)
  t.match(await start('on', '{}'), refused('APPROVALS', 'APPROVALS=off'))
  await ledger.runOk(setApprovals, { limits: { coins: 100 } })
  const kept = `APPROVALS=on APPROVAL_LIMITS='{"coins":100}'`
  t.equal(await start('', '', true), '')
  t.equal(await start('', '{"coins":100}'), '')
  t.equal(await start('on', '{"bag":0,"coins":100}'), '')
  t.match(await start('off'), refused('APPROVALS', kept))
  t.match(await start('on', '{"coins":101}'), refused('APPROVAL_LIMITS', kept))
  t.match(await start('', '{}'), refused('APPROVAL_LIMITS', kept))
  t.match(await start('off'), 'npm run approvals -- set')
})

test('the first start sets approvals before the demo, and an instance without them does not start', async (t) => {
  const database = await testDatabase()
  const { serviceUrl: DATABASE_URL } = database
  const shared = { DATABASE_URL, DATA_DIR: temporaryFolder(t), DEMO: '1' }
  const limits = { APPROVALS: 'on', APPROVAL_LIMITS: '{"coins":5}' }
  await startService(t, { ...shared, ...limits })
  const events = await queryRows(
    database,
    'select type, actor, data from ledger where position = 2 or type like $$room-%$$',
  )
  t.match(events, [
    { type: 'approvals-set', actor: 'system', data: '{"limits":{"coins":5}}' },
    { type: 'room-defined' },
  ])
  const other = await startService(t, { ...shared, APPROVALS: 'off' })
  t.equal(await other.exited, 1)
  t.match(
    other.output(),
    /^APPROVALS differs from what the ledger says: APPROVALS=on APPROVAL_LIMITS='\{"coins":5\}'\. /m,
  )
})
