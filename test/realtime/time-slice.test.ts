import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'tap'
import { TimeSlice } from '../../src/realtime/time-slice.ts'

/** A clock that stands still but for the work that is done. */
function workTimes() {
  let now = 0
  const timeSlice = new TimeSlice(4, { now: () => now })
  const done: number[] = []
  const work = (n: number): void => {
    done.push(n)
    now += 1
  }
  /** How much is done in each turn of the event loop, the one of the caller included. */
  const countsByTurn = async (all: number): Promise<readonly number[]> => {
    const counts = [done.length]
    while (done.length < all) {
      const before = done.length
      await nextTurn()
      counts.push(done.length - before)
    }
    return counts.filter((count) => count > 0)
  }
  return { timeSlice, done, work, countsByTurn }
}

const numbers = Array.from({ length: 40 }, (_, n) => n)

test('work is done in the order in which it asks, for some milliseconds of each turn of the event loop', async (t) => {
  const { timeSlice, done, work, countsByTurn } = workTimes()
  for (const n of numbers) timeSlice.run(() => work(n))
  t.equal(done.length, 4, 'some of it at once')
  t.ok(Math.max(...(await countsByTurn(numbers.length))) <= 8, 'at most two slices are between two looks')
  t.same(done, numbers)
})

test('work of many that wait for their turn is done in the same way', async (t) => {
  const { timeSlice, done, work, countsByTurn } = workTimes()
  for (const n of numbers) {
    void (async () => {
      await timeSlice.turn()
      work(n)
    })()
  }
  await Promise.resolve()
  t.equal(done.length, 0, 'none of it in the turn in which all ask')
  t.ok(Math.max(...(await countsByTurn(numbers.length))) <= 8)
  t.same(done, numbers)
})
