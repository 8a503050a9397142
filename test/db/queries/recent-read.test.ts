import { test } from 'tap'
import { RecentRead } from '../../../src/db/queries/caches.ts'

/** A read that takes so many milliseconds of a clock that the test moves. */
function reads(durations: readonly number[]) {
  const clock = { now: 0 }
  let count = 0
  const recent = new RecentRead(
    async () => {
      clock.now += durations[count] ?? 0
      count += 1
      if (durations[count - 1] === undefined) throw new Error('away')
      return count
    },
    () => clock.now,
  )
  return { clock, recent, count: () => count }
}

test('all who look share what was read last, while it is young', async (t) => {
  const { clock, recent, count } = reads([5, 30, 60_000, 5])
  t.same(await Promise.all([recent.current(), recent.current()]), [1, 1])
  clock.now = 1_004
  t.equal(await recent.current(), 1)
  clock.now = 1_005
  t.equal(await recent.current(), 2, 'read again after a second')
  clock.now = 1_035 + 2_999
  t.equal(await recent.current(), 2, 'what took 30 ms is kept for 3 s')
  clock.now += 1
  t.same(await Promise.all([recent.current(), recent.current()]), [3, 3])
  t.equal(count(), 3, 'one runs at a time')
  clock.now += 4_999
  t.equal(await recent.current(), 3)
  clock.now += 1
  t.equal(await recent.current(), 4, 'however long it took, it is read again after 5 s')
})

test('a read that fails is tried again at once', async (t) => {
  const { clock, recent, count } = reads([1])
  t.equal(await recent.current(), 1)
  clock.now = 2_000
  await t.rejects(recent.current(), /away/)
  await t.rejects(recent.current(), /away/)
  t.equal(count(), 3)
})
