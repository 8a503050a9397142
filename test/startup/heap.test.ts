import { getHeapSpaceStatistics } from 'node:v8'
import { test } from 'tap'
import { limitHeapGrowth } from '../../src/startup/heap.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'

const oldSpace = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN

test('the heap grows to much less than five times the live objects', { skip: onlyInFullRun }, (t) => {
  limitHeapGrowth()
  const ring: unknown[] = []
  let [least, most] = [Number.POSITIVE_INFINITY, 0]
  // Each lives long enough to be promoted to the old generation: about 75 MB are alive at a time.
  for (let i = 0; i < 12_000_000; i += 1) {
    ring[i % 1_000_000] = { i, of: { i } }
    if (i < 2_000_000 || i % 20_000 > 0) continue
    least = Math.min(least, oldSpace())
    most = Math.max(most, oldSpace())
  }
  t.ok(most < 3 * least, `${most} is little above ${least}`)
  t.end()
})
