import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'tap'
import { TimeSlice } from '../../src/realtime/time-slice.ts'

test('work is done in the order in which it asks, for some milliseconds of each turn of the event loop', async (t) => {
  const timeSlice = new TimeSlice(4)
  const done: number[] = []
  const work = async (n: number): Promise<void> => {
    await timeSlice.turn()
    done.push(n)
    for (const until = performance.now() + 1; performance.now() < until; ) continue
  }
  const all = Array.from({ length: 40 }, (_, n) => work(n))
  t.same(done, [])
  await Promise.resolve()
  t.equal(done[0], 0, 'the first at once')
  let most = 0
  for (let before = 0; done.length < all.length; before = done.length) {
    await nextTurn()
    most = Math.max(most, done.length - before)
  }
  t.same(
    done,
    all.map((_, n) => n),
  )
  t.ok(most <= 9, `${most} in a turn`)
})
