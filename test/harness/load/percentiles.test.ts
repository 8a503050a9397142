import { test } from 'tap'
import { median, percentile, Samples } from './percentiles.ts'

test('percentiles are values that were measured; a median may be the mean of the two in the middle', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
  t.same(
    [50, 99, 100].map((percent) => percentile(hundred, percent)),
    [50, 99, 100],
  )
  t.same([percentile([1, 2, 3], 50), percentile([1, 2, 3], 99), percentile([7], 1)], [2, 3, 7])
  t.same([median([3, 1, 2]), median([4, 1, 3, 2]), median([5])], [2, 2.5, 5])
  for (const ofNothing of [() => percentile([], 50), () => median([])]) t.throws(ofNothing)
  const samples = new Samples()
  for (let i = 100_000; i > 0; i -= 1) samples.add(i)
  const sorted = samples.sorted()
  t.same(
    [sorted.length, sorted[0], percentile(sorted, 99)],
    [100_000, 1, 99_000],
    'samples grow and come back in order',
  )
})
