import { test } from 'tap'
import { AdaptiveThrottle } from '../../src/audit/adaptive-throttle.ts'

test('the throttle rests seven times as long as it worked while the ledger grows, else not at all', async (t) => {
  let now = 0
  let slept = 0
  const time = {
    now: () => now,
    sleep: async (ms: number) => {
      slept += ms
      now += ms
    },
  }
  let position = 1
  const idle = await AdaptiveThrottle.start(async () => position, time)
  t.equal(idle.busy, false, 'nothing was written between the two reads')
  let grows = true
  const head = async (): Promise<number> => {
    if (grows) position = now
    return position
  }
  const throttle = await AdaptiveThrottle.start(head, time)
  grows = false
  /** Whether it rests after this many milliseconds of work, and for how long. */
  const restAfter = async (ms: number, workerMs?: number): Promise<[boolean, number]> => {
    const before = slept
    now += ms
    return [await throttle.rest(workerMs), slept - before]
  }
  const isBusyAfter = async (ms: number): Promise<boolean> => {
    now += ms
    await throttle.checkLoad()
    return throttle.busy
  }

  t.equal(throttle.busy, true, 'an event was written')
  position += 1
  t.equal(await isBusyAfter(200), true)
  await throttle.rest()
  t.same(await restAfter(10), [true, 70])
  t.same(await restAfter(1.9), [false, 0], 'too early for another rest')
  t.same(await restAfter(0.1), [true, 14], 'a rest counts all work since the last one')
  t.same(await restAfter(1, 10), [true, 77], 'the work of other threads counts, too')
  now += 500
  throttle.skipRest()
  t.same(await restAfter(2), [true, 14], 'work before a skipped rest does not')
  t.equal(await isBusyAfter(200), false)
  t.same(await restAfter(10), [true, 0])
  position += 1
  t.equal(await isBusyAfter(189), false, 'the head is not read all the time')
  t.equal(await isBusyAfter(1), true)
  t.same(await restAfter(3), [true, 1000], 'work before the check counts, too; no rest is longer')
})
