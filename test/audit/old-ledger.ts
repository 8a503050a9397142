import { queryRows } from '../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'
import { seededLedger, type withOwnExecutors } from './seed-ledger.ts'
import { rebuildTables, rechain, tamper } from './verify-database.ts'

type More = Parameters<Parameters<typeof withOwnExecutors>[0]>[0]

/** The middle of the month before the last one, on whatever day the tests run: this month and the next one are over. */
const now = new Date()
const begin = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2, 15, 12))

/** The month in which everything happened in an old ledger: `2026-09`. */
export const oldMonth = begin.toISOString().slice(0, 7)

/** A ledger of some time ago; `more` adds to what is in it. */
export async function oldLedger(
  more?: (own: More, database: TestDatabase) => Promise<void>,
  begun: Date = begin,
): Promise<TestDatabase> {
  const database = await seededLedger(more)
  const [{ age } = { age: null }] = await queryRows(
    database,
    `select '${begun.toISOString()}' - min(at) as age from ledger`,
  )
  await tamper(
    database,
    `update ledger_events set at = at + interval '${age}'`,
    `update ledger_head set at = at + interval '${age}'`,
  )
  await rechain(database)
  await rebuildTables(database)
  return database
}
