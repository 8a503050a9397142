import { rebuild } from '../../src/audit/rebuild/rebuild.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { seedLedger, withOwnExecutors } from './seed-ledger.ts'
import { rechain, tamper } from './verify-database.ts'

/** So long ago that its month and the next one are over. */
const AGE_DAYS = 70

/** The month in which everything happened in an old ledger: `2026-09`. */
export const oldMonth = new Date(Date.now() - AGE_DAYS * 86_400_000).toISOString().slice(0, 7)

type Seed = Parameters<typeof withOwnExecutors>[0]

/** A ledger of some time ago; `more` adds to what is in it. */
export async function oldLedger(
  more: (own: Parameters<Seed>[0], database: TestDatabase) => Promise<void> = async () => {},
): Promise<TestDatabase> {
  const database = await testDatabase()
  await withOwnExecutors(async (own) => {
    await seedLedger(own, database)
    await more(own, database)
  })
  const age = `interval '${AGE_DAYS} days'`
  await tamper(database, `update ledger_events set at = at - ${age}`, `update ledger_head set at = at - ${age}`)
  await rechain(database)
  await rebuild(database.ownerUrl, { progress: () => {}, signal: new AbortController().signal })
  return database
}
