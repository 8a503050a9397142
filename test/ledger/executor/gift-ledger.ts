import { defineDecoration } from '../../../src/features/gifts/define-decoration.ts'
import { type SendGift, sendGift } from '../../../src/features/gifts/send.ts'
import { defineRoom } from '../../../src/features/rooms/define-room.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import type { Limits } from '../../../src/ledger/executor/executor.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestExecutor, type TestExecutor, testChains, testOpening } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import type { Scope } from '../../harness/scope.ts'

export const send = sendGift({ chains: testChains, ownerPercent: 0 })

/** One rose of user 1 for user 2. */
export const rose = (room: number | string = 1): SendGift => ({
  caller_id: 1,
  sender_id: 1,
  decoration_id: 1,
  receiver_ids: [2],
  quantity: 1,
  room,
  from_bag: false,
  encrypted: false,
})

/** Three users, a room, a rose of 10 diamonds, and user 1 with diamonds to spend. */
export async function openGifts({ runOk }: TestExecutor, diamonds: number): Promise<void> {
  await runOk(genesis, testOpening)
  await runOk(defineUsers, { listed: true, users: [1, 2, 3].map((id) => ({ id })) })
  await runOk(defineRoom, { id: 1, uid: 'R1', name: 'room', owner_id: 3 })
  await runOk(defineDecoration, { decoration_id: 1, name: 'rose', kind: 'standard', price: 10 })
  await runOk(credit, { user_id: 1, currency: 'diamonds', amount: diamonds, reason: 'test' })
}

/** A ledger with these, and an executor on it. */
export async function giftLedger(t: Scope, diamonds: number, limits: Partial<Limits> = {}) {
  const database = await testDatabase()
  const one = createTestExecutor(t, database.serviceUrl, limits)
  await openGifts(one, diamonds)
  return { database, one }
}
