import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { Unavailable } from '../../src/ledger/executor/failures.ts'
import { createTestExecutor, queryRows, type TestExecutor } from '../harness/ledger/test-executor.ts'
import { isFullRun, onlyInFullRun } from '../harness/long-tests.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'
import {
  grownLedger,
  indexUpTo,
  positionsOf,
  runRandomCommands,
  startIndexer,
  untilIndexed,
} from '../ledger/indexes/index-fixture.ts'
import { seededLedger } from './seed-ledger.ts'
import { rebuildTables, tamper, verifyDatabase } from './verify-database.ts'

const contents = async (database: TestDatabase) => [
  await queryRows(database, 'select * from account_index order by account, base'),
  await queryRows(database, 'select * from event_index order by base'),
]

/** A few commands at a time; on a busy machine they may wait for a swap for longer than they can. */
async function commandsUntil(over: AbortSignal, ledger: TestExecutor): Promise<void> {
  const refused = (error: unknown): void => {
    if (!(error instanceof Unavailable)) throw error
  }
  while (!over.aborted) await Promise.all([runRandomCommands(ledger, 5).catch(refused), pause(20)])
}

test('a rebuild restores the indexes up to the end of the ledger, with their cursor', async (t) => {
  const database = await grownLedger()
  const { head } = await positionsOf(database)
  await rebuildTables(database)
  t.same(await positionsOf(database), { indexed: head, head }, 'of a ledger that was never indexed')
  const whole = await contents(database)
  t.same((await verifyDatabase(database)).findings, [])

  await tamper(
    database,
    `update account_index set balance = balance + 1 where base = 0`,
    `delete from account_index where base = 500`,
    `update event_index set terms = '{}'`,
    `update ledger_cursors set position = 0 where name = 'indexes'`,
  )
  await rebuildTables(database)
  t.same(await positionsOf(database), { indexed: head, head })
  t.same(await contents(database), whole)
})

test('a subscriber goes on after a swap, under load', { skip: onlyInFullRun }, async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  await runRandomCommands(ledger, 300)
  await indexUpTo(database, 100)
  const { failures } = startIndexer(t, database)
  for (let i = 0; i < (isFullRun ? 3 : 1); i += 1) {
    const over = new AbortController()
    const load = commandsUntil(over.signal, ledger)
    await rebuildTables(database)
    over.abort()
    await load
    await untilIndexed(database)
    t.same((await verifyDatabase(database)).findings, [])
  }
  t.same(failures, [])
})

test('a swap that could not lock the tables is tried again with nothing lost', { skip: onlyInFullRun }, async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  const holder = await connect(database.ownerUrl, 'test')
  t.teardown(() => holder.end())
  await holder.query('begin; lock table rooms in share update exclusive mode')
  const waits = async () =>
    (
      await queryRows(
        database,
        `select 1 from pg_stat_activity
         where application_name = 'ledger rebuild' and wait_event_type = 'Lock' and datname = current_database()`,
      )
    ).length > 0
  const over = new AbortController()
  const load = commandsUntil(over.signal, ledger)
  const building = rebuildTables(database)
  await until(waits)
  await until(async () => !(await waits()))
  await holder.query('commit')
  await building
  over.abort()
  await load
  t.same((await verifyDatabase(database)).findings, [])
})
