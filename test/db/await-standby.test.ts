import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { awaitStandby, positionWaiter } from '../../src/db/standby.ts'
import { DEADLINE_MS } from '../harness/until.ts'

test('a read waits for a standby, but not for long', async (t) => {
  let looks = 0
  t.equal(await awaitStandby(async () => ++looks === 3, DEADLINE_MS), true)
  t.equal(looks, 3)
  t.equal(await awaitStandby(async () => false), false, 'it stays behind')
  t.equal(await awaitStandby(() => sleep(5_000, true, { ref: false })), false, 'it hangs')
  await t.rejects(
    awaitStandby(() => Promise.reject(new Error('away'))),
    /away/,
  )
})

test('reads that wait for a position share their looks, and one that fails is no failure of theirs', async (t) => {
  let looks = 0
  let running = 0
  let most = 0
  const awaitPosition = positionWaiter(async () => {
    running += 1
    most = Math.max(most, running)
    await sleep(1)
    running -= 1
    looks += 1
    if (looks === 1) throw new Error('away')
    return looks
  }, DEADLINE_MS)
  const found = await Promise.all(Array.from({ length: 500 }, () => awaitPosition(3)))
  t.same(new Set(found), new Set([true]))
  t.ok(looks < 250, 'not each its own')
  t.equal(most, 1)
  t.equal(await positionWaiter(async () => 2)(3), false, 'it stays behind')
})
