import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { Pace } from '../../src/audit/pace.ts'

/** Milliseconds that a rest takes after so many of work. */
async function restAfter(pace: Pace, ms: number): Promise<number> {
  await pace.rest()
  const until = performance.now() + ms
  while (performance.now() < until) continue
  const began = performance.now()
  await pace.rest()
  return performance.now() - began
}

test('it rests for seven times as long as it worked while the ledger grows, and not at all when it does not', async (t) => {
  let position = 1
  const pace = await Pace.at(async () => position)
  t.equal(pace.busy, true, 'until it is known')
  position += 1
  await sleep(250)
  await pace.look()
  t.equal(pace.busy, true)
  t.ok((await restAfter(pace, 10)) >= 69)
  const began = performance.now()
  t.equal(await pace.rest(10), true)
  t.ok(performance.now() - began >= 69, 'what others work for it counts, too')
  t.equal(await pace.rest(), false, 'it is too early for another rest')
  await sleep(250)
  await pace.look()
  t.equal(pace.busy, false)
  t.ok((await restAfter(pace, 10)) < 9)
  position += 1
  await pace.look()
  t.equal(pace.busy, false, 'it is not asked all the time')
  await sleep(250)
  await pace.look()
  t.equal(pace.busy, true)
})
