import { test } from 'tap'
import type { Verb } from '../../../src/ledger/rules/verb.ts'
import { testDatabase } from '../postgres/test-database.ts'
import { createTestExecutor } from './test-executor.ts'

const revokeSessions = (before: number): Verb<null, null> => ({
  refusals: [],
  reads: () => [],
  decide: () => [{ type: 'staff-sessions-revoked', data: { sub: 'ann', before }, movements: [] }],
  result: () => null,
})

test('an event that does not match its schema is a bug, as nobody could read it', async (t) => {
  const { serviceUrl } = await testDatabase()
  const { runOk, bugs } = createTestExecutor(t, serviceUrl)
  await runOk(revokeSessions(Number.MAX_SAFE_INTEGER), null)
  t.same(bugs, [])
  await runOk(revokeSessions(Number.MAX_SAFE_INTEGER + 1), null)
  t.match(bugs, [{ message: 'event 2 does not match the schema of staff-sessions-revoked' }])
})
