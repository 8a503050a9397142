import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { awaitStandby } from '../../src/db/await-standby.ts'

test('a read waits for a standby, but not for long', async (t) => {
  let looks = 0
  t.equal(await awaitStandby(async () => ++looks === 3), true)
  t.equal(looks, 3)
  t.equal(await awaitStandby(async () => false), false, 'it stays behind')
  t.equal(await awaitStandby(() => sleep(5_000, true, { ref: false })), false, 'it hangs')
  await t.rejects(
    awaitStandby(() => Promise.reject(new Error('away'))),
    /away/,
  )
})
