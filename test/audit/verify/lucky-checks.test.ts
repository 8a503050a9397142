import { test } from 'tap'
import type { EventData } from '../../../schema/events.ts'
import { LuckyChecks } from '../../../src/audit/verify/draws/draw-checks.ts'
import { evolveWithMovements } from '../../../src/domain.ts'
import { showChains } from '../../../src/features/fairness/lucky-chains.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { Replay } from '../../../src/ledger/replay/replay.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../../src/ledger/storage/stored-event.ts'
import { OTHER_INCARNATION, testIncarnation } from '../../harness/ledger/given-when.ts'
import { createTestExecutor, queryRows, testChains } from '../../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'
import { seededLedger } from '../seed-ledger.ts'

const gift = { decoration_id: 2, quantity: 1, room: 9, from_bag: false, encrypted: true }
const send = sendGift({ chains: testChains, ownerPercent: 5 })

const eventsOf = async (database: TestDatabase) =>
  (await queryRows(database, `select ${eventColumns} from ledger_events e order by e.position`)).map((row) =>
    parseStoredEvent(parseEntry(row)),
  )

test('a draw that the rules reject makes no later draw a finding', async (t) => {
  const database = await seededLedger(async (inner, database) => {
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    for (let i = 0; i < 4; i += 1) await runOk(send, { ...gift, caller_id: 2, sender_id: 2, receiver_ids: [1, 3] })
  })
  const events = await eventsOf(database)
  const draws = events.filter(({ type }) => type === 'gift-drawn')
  t.ok(draws.length >= 4)
  const last = draws.at(-1)
  for (const wrong of [false, true]) {
    const faults: string[] = []
    const checks = new LuckyChecks({ onFault: (_, message) => faults.push(message), onLuckyDraw: () => {} })
    const replay = new Replay(evolveWithMovements)
    for (const event of events) {
      const isForged = wrong && event === last && event.type === 'gift-drawn'
      checks.check(
        isForged ? { ...event, data: { ...event.data, k: event.data.k + 1 } } : event,
        event.entry,
        replay.state,
      )
      // No draw is folded into the rows.
      if (event.type !== 'gift-drawn') replay.fold(event, event.movements)
    }
    t.equal(faults.length > 0, wrong)
    if (wrong) t.match(faults[0], /^send 5 of chain 2-1 follows send 3$/)
  }
})

test('a draw says its incarnation, and whether its chain was announced', async (t) => {
  const database = await seededLedger(async (inner, database) => {
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    const sendFrom = (sender_id: number) => runOk(send, { ...gift, caller_id: sender_id, sender_id, receiver_ids: [1] })
    await sendFrom(2)
    await sendFrom(2)
    await runOk(credit, { user_id: 3, currency: 'diamonds', amount: 100, reason: 'test' })
    await runOk(showChains(testChains), { user_id: 3 })
    await sendFrom(3)
  })
  const events = await eventsOf(database)
  const draws = events.filter(({ type }) => type === 'gift-drawn')
  const faultsWith = (change: Partial<EventData<'gift-drawn'>>, at?: number) => {
    const faults: string[] = []
    const checks = new LuckyChecks({ onFault: (_, message) => faults.push(message), onLuckyDraw: () => {} })
    const replay = new Replay(evolveWithMovements)
    for (const event of events) {
      const isForged = event.position === at && event.type === 'gift-drawn'
      const checked = isForged ? { ...event, data: { ...event.data, ...change } } : event
      checks.check(checked, event.entry, replay.state)
      replay.fold(event, event.movements)
    }
    return faults
  }
  t.same(faultsWith({}), [])
  t.match(draws.slice(-3), [
    { data: { sender_id: 2, k: 1, announced: false } },
    { data: { sender_id: 2, k: 2, announced: true } },
    { data: { sender_id: 3, k: 1, announced: true } },
  ])
  const [first, second, third] = draws.slice(-3).map(({ position }) => position)
  t.same(faultsWith({ announced: true }, first), ['chain 2-1 was opened by the send itself'])
  t.same(faultsWith({ announced: false }, second), ['chain 2-1 was announced before the send'])
  t.same(faultsWith({ announced: false }, third), ['chain 3-1 was announced before the send'])
  t.same(faultsWith({ incarnation: OTHER_INCARNATION }, second), [
    `the incarnation is ${OTHER_INCARNATION}, expected ${testIncarnation}`,
  ])
})
