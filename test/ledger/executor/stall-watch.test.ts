import { test } from 'tap'
import { StallWatch } from '../../../src/ledger/executor/command-queue.ts'

test('a stall lasts from the first command that waits until something is settled', async (t) => {
  let now = 1_000
  const watch = new StallWatch(() => now)
  t.equal(watch.stalledMs, 0)
  watch.waiting()
  now += 2_000
  watch.waiting()
  now += 2_000
  t.equal(watch.stalledMs, 4_000)
  watch.progressed(true)
  t.equal(watch.stalledMs, 0)
  now += 500
  t.equal(watch.stalledMs, 500, 'others still wait')
  watch.progressed(false)
  now += 5_000
  t.equal(watch.stalledMs, 0, 'none waits')
})

test('callers that get errors and try again do not end a stall', async (t) => {
  let now = 1_000
  const watch = new StallWatch(() => now)
  watch.waiting()
  now += 10_000
  watch.failed()
  now += 2_000
  t.equal(watch.stalledMs, 12_000)
  watch.waiting()
  now += 1_000
  t.equal(watch.stalledMs, 13_000)
  watch.failed()
  now += 3_000
  t.equal(watch.stalledMs, 0, 'nobody tried again')
  watch.waiting()
  now += 100
  t.equal(watch.stalledMs, 100)
  watch.failed()
  now += 60_000
  watch.waiting()
  t.equal(watch.stalledMs, 0, 'a later command begins at 0')
})
