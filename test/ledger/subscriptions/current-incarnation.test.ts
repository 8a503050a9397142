import { test } from 'tap'
import { CurrentIncarnation } from '../../../src/ledger/subscriptions/applied-events.ts'

const HOUR_MICROS = 3_600_000_000
const hoursAgo = (hours: number): number => Date.now() * 1_000 - hours * HOUR_MICROS

test('a position without a name is one of this ledger, except on the day after a restore', async (t) => {
  const accepts = (position: number, hours: number, name?: string) =>
    new CurrentIncarnation({ incarnation: 'a', position, began_at: hoursAgo(hours) }).accepts(name)
  t.same([accepts(1, 0), accepts(1, 25)], [true, true], 'nothing was ever lost')
  t.same([accepts(7, 0), accepts(7, 23.9), accepts(7, 24.1), accepts(7, -1)], [false, false, true, false])
  t.same(
    [accepts(7, 0, 'a'), accepts(7, 0, 'b'), accepts(7, 25, 'b'), accepts(1, 25, 'b')],
    [true, false, false, false],
  )
  t.equal(new CurrentIncarnation(undefined).accepts(undefined), true, 'an empty ledger')
})

test('it is what the newest event says that begins one', async (t) => {
  const incarnation = new CurrentIncarnation(undefined)
  t.equal(incarnation.name, undefined)
  const first = { fairness_key: 'f', incarnation: 'a' }
  incarnation.apply({ type: 'ledger-opened', data: first, movements: [], position: 1, at: 0 })
  t.equal(incarnation.name, 'a')
  const at = hoursAgo(0)
  const restored = { incarnation: 'b', reason: 'test', last_known: null }
  incarnation.apply({ type: 'ledger-restored', data: restored, movements: [], position: 2, at })
  incarnation.apply({ type: 'room-defined', data: { room_id: 1, owner_id: 1 }, movements: [], position: 3, at })
  t.same([incarnation.name, incarnation.accepts(undefined)], ['b', false])
})
