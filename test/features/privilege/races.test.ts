import { test } from 'tap'
import { loadSlices } from '../../../src/domain.ts'
import { type ActivateCard, activateCard } from '../../../src/features/privilege/activate.ts'
import { grantCards } from '../../../src/features/privilege/grant.ts'
import { definePackage } from '../../../src/features/privilege/packages/define-package.ts'
import { transferCard } from '../../../src/features/privilege/transfer.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'

const { slices } = await loadSlices()

const RACERS = 100

/** How often each value occurs. */
const tally = (values: readonly unknown[]): Record<string, number> =>
  Object.fromEntries([...new Set(values)].map((one) => [String(one), values.filter((other) => other === one).length]))

test('races for one card', async (t) => {
  const { ledger, user, database } = await createTestApp(t, slices)
  const both = [ledger, createTestExecutor(t, database.serviceUrl)] as const
  const users = Array.from({ length: RACERS + 1 }, (_, i) => ({ id: i + 1 }))
  await ledger.runOk(defineUsers, { users, listed: true })
  await ledger.runOk(definePackage, { privilege_package_id: 3, name: 'VIP', rank: 3, valid_days: 30 })
  /** A new card of user 1: its id. */
  const card = async (): Promise<number> => {
    const [made] = await ledger.runOk(grantCards, { user_id: 1, privilege_package_id: 3, quantity: 1, reason: 'race' })
    if (made === undefined) throw new Error('no card')
    return made.card_id
  }
  const eventsOf = (card_id: number) =>
    queryRows(
      database,
      `select type, count(*) from ledger_events
       where type ~ '^(card-[am]|privilege-[dr])' and data::json->>'card_id' = '${card_id}' group by 1 order by 1`,
    )

  await t.test('of 100 concurrent activations of one card on two instances one succeeds', async (t) => {
    const card_id = await card()
    const input: ActivateCard = { caller_id: 1, card_id }
    const settled = await Promise.all(
      Array.from({ length: RACERS }, (_, i) => both[i % 2 === 0 ? 0 : 1].run(activateCard, input, { actor: 'user:1' })),
    )
    const outcomes = settled.map(({ reply }) => JSON.parse(reply.body).refusal ?? 'activated')
    t.same(tally(outcomes), { activated: 1, card_already_activated: RACERS - 1 })
    t.same(await eventsOf(card_id), [
      { type: 'card-activated', count: '1' },
      { type: 'privilege-days-added', count: '1' },
    ])
  })

  await t.test('of 100 concurrent transfers of one card on two instances one succeeds', async (t) => {
    const card_id = await card()
    const settled = await Promise.all(
      Array.from({ length: RACERS }, (_, i) => {
        const input = { caller_id: 1, card_id, receiver_id: i + 2 }
        return both[i % 2 === 0 ? 0 : 1].run(transferCard, input, { actor: 'user:1' })
      }),
    )
    const outcomes = settled.map(({ reply }) => JSON.parse(reply.body).refusal ?? 'sent')
    t.same(tally(outcomes), { sent: 1, not_card_owner: RACERS - 1 })
    t.same(await eventsOf(card_id), [{ type: 'card-moved', count: '1' }])
    t.same(await queryRows(database, `select owner_id, activated from privilege_cards where card_id = ${card_id}`), [
      { owner_id: String(outcomes.indexOf('sent') + 2), activated: 'f' },
    ])
  })

  await t.test('of concurrent activations and transfers over HTTP one succeeds', async (t) => {
    const id = await card()
    const ask = user(1)
    const responses = await Promise.all(
      Array.from({ length: RACERS }, (_, i) =>
        i % 2 === 0
          ? ask('POST', `/api/v1/privilege-wallet/${id}/activate`)
          : ask('POST', `/api/v1/privilege-wallet/${id}/transfer`, { receiver_id: i + 1 }),
      ),
    )
    const statuses = tally(responses.map(({ status }) => status))
    t.equal(statuses['200'], 1)
    t.equal((statuses['422'] ?? 0) + (statuses['403'] ?? 0), RACERS - 1)
  })
  t.same((await verifyDatabase(database)).findings, [])
  for (const { bugs, failures, batches } of both) {
    t.same([...bugs, ...failures], [])
    t.ok(batches.length > 0)
  }
})
