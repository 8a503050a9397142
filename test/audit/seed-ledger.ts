import { chooseSeed } from '../../src/features/fairness/lucky-chains.ts'
import { addBagItems } from '../../src/features/gifts/bag.ts'
import { defineDecoration } from '../../src/features/gifts/define-decoration.ts'
import { type SendGift, sendGift } from '../../src/features/gifts/send.ts'
import { defineRoom } from '../../src/features/rooms/define-room.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { credit, debit } from '../../src/features/wallet/balance-move.ts'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { isRefusal } from '../../src/ledger/rules/verb.ts'
import { createTestExecutor, testChains, testOpening } from '../harness/ledger/test-executor.ts'
import { copyOf, type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import type { Scope } from '../harness/scope.ts'

/** Its owner becomes no member, so that it is one event. */
const roomAlone: typeof defineRoom = {
  ...defineRoom,
  decide: (state, input, context) => {
    const decided = defineRoom.decide(state, input, context)
    return isRefusal(decided) ? decided : decided.slice(0, 1)
  },
}

/** Runs one command of every kind, and a few more, on an empty ledger. */
export async function seedLedger(t: Scope, { serviceUrl }: Pick<TestDatabase, 'serviceUrl'>): Promise<void> {
  const ledger = createTestExecutor(t, serviceUrl)
  const send = sendGift({ chains: testChains, ownerPercent: 5 })
  const gift = (fields: Partial<SendGift>): SendGift => ({
    caller_id: 1,
    sender_id: 1,
    decoration_id: 1,
    receiver_ids: [2, 3],
    quantity: 7,
    room: 9,
    from_bag: false,
    encrypted: false,
    ...fields,
  })
  const odds = [
    { multiplier: 0, weight: 3 },
    { multiplier: 1.5, weight: 2 },
  ]
  await ledger.runOk(genesis, testOpening)
  await ledger.runOk(defineUsers, { users: [1, 2, 3].map((id) => ({ id })), listed: true })
  await ledger.runOk(roomAlone, { id: 9, owner_id: 3 })
  await ledger.runOk(defineDecoration, { decoration_id: 1, name: 'Rose', kind: 'standard', price: 11 })
  await ledger.runOk(defineDecoration, { decoration_id: 2, name: 'Clover', kind: 'lucky', price: 10, odds })
  for (const user_id of [1, 2]) {
    await ledger.runOk(credit, { user_id, currency: 'diamonds', amount: 10_000, reason: 'opening' }, 'staff:ann')
  }
  await ledger.runOk(credit, { user_id: 2, currency: 'dollars', amount: 1299, reason: 'salary' })
  await ledger.runOk(debit, { holder: 'user', id: 2, currency: 'diamonds', amount: 40, reason: 'mistake' })
  await ledger.runOk(addBagItems, { user_id: 1, decoration_id: 2, quantity: 20, reason: 'prize' })
  await ledger.runOk(addBagItems, { user_id: 2, decoration_id: 1, quantity: 2, reason: 'prize' })
  await ledger.run(send, gift({}), { actor: 'user:1', key: 'standard' })
  await ledger.run(send, gift({ decoration_id: 2 }), { actor: 'user:1', key: 'lucky' })
  await ledger.runOk(send, gift({ decoration_id: 2, from_bag: true }))
  await ledger.runOk(chooseSeed(testChains), { user_id: 1, client_seed: 'my-seed' })
  await ledger.runOk(send, gift({ decoration_id: 2, receiver_ids: [3] }))
  await ledger.runOk(defineDecoration, { decoration_id: 2, price: 12 })
  await ledger.runOk(send, gift({ caller_id: 2, sender_id: 2, receiver_ids: [1], from_bag: true, quantity: 2 }))
  await ledger.runOk(debit, { holder: 'room', id: 9, currency: 'target', amount: 1, reason: 'mistake' })
  // Refused: stored as a reply without an event.
  await ledger.run(send, gift({ quantity: 9_999 }), { actor: 'user:1', key: 'too much' })
}

/** Runs with executors of its own, which are closed when it ends: then the database can be copied. */
export async function withOwnExecutors(work: (t: Scope) => Promise<void>): Promise<void> {
  await using closing = new AsyncDisposableStack()
  await work({ teardown: (close) => closing.defer(close) })
}

let seeded: Promise<TestDatabase> | null = null

/** A ledger as `seedLedger` leaves it, and with what `more` adds: a copy of one that is seeded once in each process. */
export async function seededLedger(more?: (t: Scope, database: TestDatabase) => Promise<void>): Promise<TestDatabase> {
  seeded ??= seedOnce()
  const database = await copyOf(await seeded)
  if (more !== undefined) await withOwnExecutors((t) => more(t, database))
  return database
}

async function seedOnce(): Promise<TestDatabase> {
  const database = await testDatabase()
  await withOwnExecutors((t) => seedLedger(t, database))
  return database
}
