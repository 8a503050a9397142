import { test } from 'tap'
import { AdaptiveThrottle } from '../../src/audit/adaptive-throttle.ts'

test('it rests for seven times as long as it worked while the ledger grows, and not at all when it does not', async (t) => {
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
  const still = await AdaptiveThrottle.start(async () => position, time)
  t.equal(still.busy, false, 'nothing came while it was looked at')
  let grows = true
  const head = async (): Promise<number> => {
    if (grows) position = now
    return position
  }
  const pace = await AdaptiveThrottle.start(head, time)
  grows = false
  /** Whether it rests after so many milliseconds of work, and for how long. */
  const restAfter = async (ms: number, aside?: number): Promise<[boolean, number]> => {
    const before = slept
    now += ms
    return [await pace.rest(aside), slept - before]
  }
  const lookAfter = async (ms: number): Promise<boolean> => {
    now += ms
    await pace.checkLoad()
    return pace.busy
  }

  t.equal(pace.busy, true, 'something came')
  position += 1
  t.equal(await lookAfter(200), true)
  await pace.rest()
  t.same(await restAfter(10), [true, 70])
  t.same(await restAfter(1.9), [false, 0], 'it is too early for another rest')
  t.same(await restAfter(0.1), [true, 14], 'which is for all that was worked since the last one')
  t.same(await restAfter(1, 10), [true, 77], 'what others work for it counts, too')
  now += 500
  pace.skipRest()
  t.same(await restAfter(2), [true, 14], 'what was waived does not')
  t.equal(await lookAfter(200), false)
  t.same(await restAfter(10), [true, 0])
  position += 1
  t.equal(await lookAfter(189), false, 'it is not asked all the time')
  t.equal(await lookAfter(1), true)
  t.same(await restAfter(3), [true, 1000], 'what came before it was known counts, too; no rest is longer')
})
