import { basename } from 'node:path'
import type { Test } from 'tap'
import { closingSteps } from '../../../src/features/closings/closing.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { auditInThisThread } from '../../audit/audit-in-this-thread.ts'
import { runSteps } from '../../audit/closings/run-steps.ts'
import { oldLedger } from '../../audit/old-ledger.ts'
import { createDemoApp } from '../../harness/app/demo-app.ts'
import { createTestApp, type TestApp } from '../../harness/app/test-app.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'

/** The service that a file of examples is recorded from. */
export function createExampleApp(t: Test, file: URL): Promise<TestApp> {
  const name = basename(file.pathname)
  return name === 'closings.json' ? createClosingsApp(t) : createDemoApp(t, name === 'proposals.json')
}

/** On a ledger of January 2026 with a finding, whose steps were run: no month of the demo data is over. */
async function createClosingsApp(t: Test): Promise<TestApp> {
  auditInThisThread(t)
  const database = await oldLedger(async (own, { serviceUrl }) => {
    const unexplained = { user_id: 1, currency: 'coins', amount: 5, reason: '\u00a0' } as const
    await createTestExecutor(own, serviceUrl).runOk(credit, unexplained, 'staff:bea')
  }, new Date('2026-01-15T12:00:00Z'))
  const created = await createTestApp(t, { database })
  await runSteps(t, created, closingSteps, '2026-01')
  return created
}
