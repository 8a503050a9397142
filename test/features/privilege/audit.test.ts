import { test } from 'tap'
import { activateCard } from '../../../src/features/privilege/activate.ts'
import { grantCards } from '../../../src/features/privilege/grant.ts'
import { definePackage } from '../../../src/features/privilege/packages/define-package.ts'
import { transferCard } from '../../../src/features/privilege/transfer.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { rechain, tamper, verifyDatabase } from '../../audit/verify-database.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'

/** Cards 5 to 7 of user 1: the first sent to user 2, the others activated, of a low and a high rank. */
async function seeded(t: Parameters<typeof createTestExecutor>[0]): Promise<TestDatabase> {
  const database = await testDatabase()
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  const reason = 'audit'
  await runOk(defineUsers, { users: [{ id: 1 }, { id: 2 }], listed: true })
  await runOk(definePackage, { privilege_package_id: 1, name: 'Low', rank: 1, valid_days: 10 })
  await runOk(definePackage, { privilege_package_id: 2, name: 'High', rank: 2, valid_days: 20 })
  await runOk(grantCards, { user_id: 1, privilege_package_id: 1, quantity: 2, reason })
  await runOk(grantCards, { user_id: 1, privilege_package_id: 2, quantity: 1, reason })
  await runOk(transferCard, { caller_id: 1, card_id: 5, receiver_id: 2 })
  await runOk(activateCard, { caller_id: 1, card_id: 6 })
  await runOk(activateCard, { caller_id: 1, card_id: 7 })
  return database
}

test('verify reports rows of cards, packages and privileges that differ from the ledger', async (t) => {
  const database = await seeded(t)
  t.same((await verifyDatabase(database)).findings, [])
  const cases: readonly (readonly [statement: string, table: string, id: string, message: RegExp])[] = [
    ['update privilege_packages set rank = 9 where rank = 1', 'privilege_packages', '1', /^rank is 9, expected 1$/],
    ['update privilege_cards set owner_id = 1 where card_id = 5', 'privilege_cards', '5', /^owner_id is 1, expected /],
    [
      'update privilege_cards set activated = false where card_id = 6',
      'privilege_cards',
      '6',
      /^activated is f, expected /,
    ],
    ['delete from privilege_cards where card_id = 7', 'privilege_cards', '7', /^the row is missing from the table$/],
    ['update privileges set valid_until = valid_until + 86400', 'privileges', '1', /^valid_until is \d+, expected /],
  ]
  await tamper(database, ...cases.map(([statement]) => statement))
  const { findings } = await verifyDatabase(database)
  t.equal(findings.length, cases.length)
  for (const [, table, id, message] of cases) {
    t.ok(
      findings.some((found) => found.table === table && found.id === id && message.test(found.message)),
      `${table} ${id}`,
    )
  }
})

test('verify finds a forged transfer although all hashes were recomputed', async (t) => {
  const database = await seeded(t)
  await tamper(
    database,
    `update ledger_events set data = replace(data, '"from_user_id":1', '"from_user_id":2') where position = 8`,
  )
  await rechain(database)
  t.match((await verifyDatabase(database)).findings[0], {
    check: 'rules',
    position: 8,
    message: 'card 5 is not stored with user 2',
  })
})
