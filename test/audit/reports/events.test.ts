import { test } from 'tap'
import { readEventsAfter } from '../../../src/audit/reports/events.ts'
import { requestWithdrawal } from '../../../src/features/agency/withdrawals/request-withdrawal.ts'
import { defineCountry } from '../../../src/features/users/country.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import {
  growLedger,
  grownLedger,
  indexUpTo,
  positionsOf,
  runRandomCommands,
} from '../../ledger/indexes/index-fixture.ts'

test('events are found by type and user, wherever the index ends', async (t) => {
  const database = await grownLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  await ledger.runOk(defineCountry, { id: 1, name: 'Egypt' })
  await ledger.runOk(defineUsers, { listed: true, users: [{ id: 7, business_manager: true }, { id: 8 }] })
  // In another block of the index than the definitions of those whom it names.
  await growLedger(ledger, database, 1_550)
  await ledger.runOk(credit, { user_id: 2, currency: 'dollars', amount: 100, reason: 'salary' })
  const request = { type: 'cash', caller_id: 2, target_id: 7, beneficiary_id: 8, country_id: 1 } as const
  await ledger.runOk(requestWithdrawal(null), { ...request, agent_benefit: false, amount: 100, details: null })
  await runRandomCommands(ledger, 20)
  const db = readDb(t, database)
  const { signal } = new AbortController()
  const { head } = await positionsOf(database)
  const types = [null, 'gift-sent', 'instant-transfer-made', 'user-defined', 'card-granted']
  const users = [null, 1, 3, 7, 8, 99]
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
  for (const user of [7, 8]) {
    const events = await readEventsAfter(db, { after: 0, limit: 10, type: null, user }, signal)
    t.same(
      events.map(({ type }) => type),
      ['user-defined', 'withdrawal-requested'],
      'also whom a withdrawal is addressed to, and who gets it',
    )
  }
  for (const indexed of [499, 500, 1_234, head]) {
    await indexUpTo(database, indexed)
    for (const [i, [after, limit]] of pages.entries()) {
      t.same(await positionsWith(after, limit), searched[i], `after ${after}, indexed up to ${indexed}`)
    }
  }
})
