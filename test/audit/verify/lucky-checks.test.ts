import { test } from 'tap'
import { paidAmounts } from '../../../src/audit/verify/draws/draw-observer.ts'
import { LuckyChecks } from '../../../src/audit/verify/draws/lucky-checks.ts'
import { evolveWithMovements } from '../../../src/domain.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { Replay } from '../../../src/ledger/replay/replay.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../../src/ledger/storage/stored-event.ts'
import { createTestExecutor, queryRows, testChains } from '../../harness/ledger/test-executor.ts'
import { seededLedger } from '../seed-ledger.ts'

test('a draw that the rules reject makes no later draw a finding', async (t) => {
  const database = await seededLedger(async (inner, database) => {
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    const gift = { caller_id: 2, sender_id: 2, decoration_id: 2, receiver_ids: [1, 3], quantity: 1, room: 9 }
    const send = sendGift({ chains: testChains, ownerPercent: 5 })
    for (let i = 0; i < 4; i += 1) await runOk(send, { ...gift, from_bag: false, encrypted: true })
  })
  const events = (await queryRows(database, `select ${eventColumns} from ledger_events e order by e.position`)).map(
    (row) => parseStoredEvent(parseEntry(row)),
  )
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
        paidAmounts(event.movements),
        replay.state,
      )
      // No draw is folded into the rows.
      if (event.type !== 'gift-drawn') replay.fold(event, event.movements)
    }
    t.equal(faults.length > 0, wrong)
    if (wrong) t.match(faults[0], /^send 5 of chain 2-1 follows send 3$/)
  }
})
