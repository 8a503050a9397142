import { test } from 'tap'
import { grantCards, transferCard } from '../../../src/features/privilege/card.ts'
import { definePackage } from '../../../src/features/privilege/package.ts'
import { activateCard } from '../../../src/features/privilege/privilege.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const RACERS = 100

test('of 100 concurrent activations and transfers of one card on two instances one succeeds', async (t) => {
  const database = await testDatabase()
  const ledger = createTestExecutor(t, database.serviceUrl)
  const both = [ledger, createTestExecutor(t, database.serviceUrl)] as const
  const users = Array.from({ length: RACERS + 1 }, (_, i) => ({ id: i + 1 }))
  await ledger.runOk(defineUsers, { users, listed: true })
  await ledger.runOk(definePackage, { privilege_package_id: 3, name: 'VIP', rank: 3, valid_days: 30 })
  const [made] = await ledger.runOk(grantCards, { user_id: 1, privilege_package_id: 3, quantity: 1, reason: 'race' })
  if (made === undefined) throw new Error('no card')
  const { card_id } = made
  const settled = await Promise.all(
    users.slice(1).map(({ id: receiver_id }) => {
      const { run } = both[receiver_id % 4 < 2 ? 0 : 1]
      return receiver_id % 2 === 0
        ? run(activateCard, { caller_id: 1, card_id }, { actor: 'user:1' })
        : run(transferCard, { caller_id: 1, card_id, receiver_id }, { actor: 'user:1' })
    }),
  )
  const outcomes = settled.map(({ reply }) => JSON.parse(reply.body).refusal ?? 'done')
  t.equal(outcomes.filter((outcome) => outcome === 'done').length, 1)
  const receiver = outcomes.indexOf('done') + 2
  const wasActivated = receiver % 2 === 0
  const refusal = wasActivated ? 'card_already_activated' : 'not_card_owner'
  t.same(new Set(outcomes), new Set(['done', refusal]))
  t.same(
    await queryRows(
      database,
      `select type from ledger
       where type ~ '^(card-[am]|privilege-[dr])' and data::json->>'card_id' = '${card_id}' order by 1`,
    ),
    (wasActivated ? ['card-activated', 'privilege-days-added'] : ['card-moved']).map((type) => ({ type })),
  )
  t.same(await queryRows(database, 'select owner_id, activated from privilege_cards'), [
    wasActivated ? { owner_id: '1', activated: 't' } : { owner_id: String(receiver), activated: 'f' },
  ])
  t.same((await verifyDatabase(database)).findings, [])
  for (const { bugs, failures, batches } of both) {
    t.same([...bugs, ...failures], [])
    t.ok(batches.length > 0)
  }
})
