import { test } from 'tap'
import { readEventsAfter } from '../../../src/audit/reports/events.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { indexUpTo, positionsOf, runRandomCommands } from '../../ledger/indexes/index-fixture.ts'
import { seedLedger } from '../seed-ledger.ts'

test('events are found by type and user, wherever the index ends', async (t) => {
  const database = await testDatabase(t)
  await seedLedger(t, database)
  await runRandomCommands(createTestExecutor(t, database.serviceUrl), 2_600)
  const db = readDb(t, database)
  const { signal } = new AbortController()
  const { head } = await positionsOf(database)
  t.ok(head > 1_500)
  const types = [null, 'gift-sent', 'instant-transfer-made', 'user-defined', 'card-granted']
  const users = [null, 1, 3, 99]
  const filters = types.flatMap((type) => users.map((user) => ({ type, user })))
  const positionsWith = async (after: number, limit: number) =>
    Promise.all(
      filters.map(async (filter) =>
        (await readEventsAfter(db, { after, limit, ...filter }, signal)).map(({ position }) => position),
      ),
    )
  const pages = [
    [0, 10_000],
    [0, 3],
    [499, 5],
    [500, 5],
    [731, 400],
    [head - 1, 2],
    [head, 2],
  ] as const
  const searched = []
  for (const [after, limit] of pages) searched.push(await positionsWith(after, limit))
  t.ok(searched[0]?.some((positions) => positions.length > 1_000))
  for (const indexed of [499, 500, 1_234, head]) {
    await indexUpTo(database, indexed)
    for (const [i, [after, limit]] of pages.entries()) {
      t.same(await positionsWith(after, limit), searched[i], `after ${after}, indexed up to ${indexed}`)
    }
  }
})
