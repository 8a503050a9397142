import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { awaitReplay } from '../../src/db/replay.ts'

test('a read waits for a standby, but not for long', async (t) => {
  let looks = 0
  t.equal(await awaitReplay(async () => ++looks === 3), true)
  t.equal(looks, 3)
  t.equal(await awaitReplay(async () => false), false, 'it stays behind')
  t.equal(await awaitReplay(() => sleep(5_000, true, { ref: false })), false, 'it hangs')
  await t.rejects(
    awaitReplay(() => Promise.reject(new Error('away'))),
    /away/,
  )
})
