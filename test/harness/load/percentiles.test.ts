import { test } from 'tap'
import { median, percentile, Samples } from './percentiles.ts'

test('percentiles are values that were measured', (t) => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
  t.equal(percentile(hundred, 50), 50)
  t.equal(percentile(hundred, 99), 99)
  t.equal(percentile(hundred, 100), 100)
  t.equal(percentile([1, 2, 3], 50), 2)
  t.equal(percentile([1, 2, 3], 99), 3)
  t.equal(percentile([7], 1), 7)
  t.throws(() => percentile([], 50))
  t.end()
})

test('a median is the middle value, or the mean of the two in the middle', (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 3, 2]), 2.5)
  t.equal(median([5]), 5)
  t.throws(() => median([]))
  t.end()
})

test('samples grow and come back in order', (t) => {
  const samples = new Samples()
  const count = 100_000
  for (let i = count; i > 0; i -= 1) samples.add(i)
  t.equal(samples.count, count)
  const sorted = samples.sorted()
  t.equal(sorted.length, count)
  t.equal(sorted[0], 1)
  t.equal(percentile(sorted, 99), 99_000)
  t.end()
})
