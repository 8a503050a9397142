import { test } from 'tap'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { defineRoom } from '../../../src/features/rooms/define-room.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { batchShare } from '../../../src/ledger/executor/command-queue.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestExecutor, testChains, testOpening } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { giftLedger, rose } from './gift-ledger.ts'

test('a command may need a row because of the command before it in the same batch', async (t) => {
  const { one: ledger } = await giftLedger(t, 1_000)
  await ledger.runOk(defineUsers, { users: [4, 5].map((id) => ({ id })), listed: true })
  const send = sendGift({ chains: testChains, ownerPercent: 10 })
  const settled = await Promise.all([
    // A new owner, whose balance the send could not declare.
    ledger.run(defineRoom, { id: 1, owner_id: 4 }),
    ledger.run(send, rose()),
    // A new room, found by its uid.
    ledger.run(defineRoom, { id: 10, uid: 'new', owner_id: 5 }),
    ledger.run(send, rose('new')),
    ledger.run(send, rose()),
  ])
  t.same(
    settled.map(({ reply }) => reply.status),
    [200, 200, 200, 200, 200],
  )
  t.same(ledger.bugs, [])
  t.same(
    ledger.batches.slice(-3).reduce((sum, commands) => sum + commands, 0),
    5,
    'in three batches',
  )
})

test('after a large batch, commands of one turn of the event loop share a batch, also when promises ran in between', async (t) => {
  const ledger = createTestExecutor(t, (await testDatabase()).serviceUrl)
  await ledger.runOk(genesis, testOpening)
  await ledger.runOk(defineUsers, { users: [{ id: 1 }], listed: true })
  const give = (): Promise<unknown> =>
    ledger.runOk(credit, { user_id: 1, currency: 'coins', amount: 1, reason: 'test' })
  await Promise.all([give(), give()])
  const before = ledger.batches.length
  const given: Promise<unknown>[] = []
  for (let i = 0; i < 5; i += 1) {
    given.push(give())
    // As between two sockets that Node reads one after the other.
    for (let step = 0; step < 10; step += 1) await Promise.resolve()
  }
  await Promise.all(given)
  t.same(ledger.batches.slice(before), [5])
})

test('a batch is a third of all commands queued or in flight, if they are many', async (t) => {
  const flight = (commands: number) => ({ commands: Array.from({ length: commands }) })
  for (const [inLine, flying, part] of [
    [1, [], 32],
    [96, [], 32],
    [97, [], 33],
    [40, [30, 30], 34],
    [0, [100, 200], 100],
    [1_000, [], 334],
  ] as const) {
    t.equal(batchShare(inLine, flying.map(flight)), part)
  }
})
