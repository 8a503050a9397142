import { assert, constantFrom, double, integer, property } from 'fast-check'
import { test } from 'tap'
import { type FrequencyTest, testFrequencies, upperTail } from '../../../../src/audit/verify/draws/frequency-test.ts'
import { runs } from '../../../harness/properties.ts'

const even = (counts: readonly number[]): FrequencyTest =>
  testFrequencies(counts.map((observed) => ({ observed, expected: 1 / counts.length })))

/** So many hits in so many draws of a game in which each hits with the probability `share`. */
const hitsOf = (draws: number, hits: number, share: number): FrequencyTest =>
  testFrequencies([
    { observed: hits, expected: share },
    { observed: draws - hits, expected: 1 - share },
  ])

/** How probable fair draws with such an outcome are, summed over all numbers of hits. */
function rateOf(draws: number, share: number, isAlarm: (test: FrequencyTest) => boolean): number {
  let probability = (1 - share) ** draws
  let rate = 0
  for (let hits = 0; hits <= draws; hits += 1) {
    if (isAlarm(hitsOf(draws, hits, share))) rate += probability
    probability *= ((draws - hits) / (hits + 1)) * (share / (1 - share))
  }
  return rate
}

const isNear = (actual: number, expected: number): boolean => Math.abs(actual - expected) <= expected * 1e-6

test('tails and chi-squares have the known values', async (t) => {
  // The first one by R: pbinom(55, 100, 1/2, lower.tail = FALSE)
  const tails = [
    [upperTail(100, 56, 1 / 2), 0.1356265120369175],
    [upperTail(10, 10, 0.9), 0.9 ** 10],
    [upperTail(3, 2, 1 / 6), 16 / 216],
  ] as const
  for (const [actual, expected] of tails) t.ok(isNear(actual, expected), `${actual} is ${expected}`)
  t.match(even([44, 56]), { statistic: 1.44, degrees: 1 })
  t.match(even([50, 50, 50]), { statistic: 0, degrees: 2, p: 1 })
  t.match(even([5, 4]), { degrees: 0 }, 'one is expected less than five times: too few for a chi-square')
  t.match(even([4, 4, 2]), { degrees: 0, p: 1 }, 'merged until one is left')
  t.match(even([100]), { p: null }, 'one outcome')
  t.match(even([0, 0]), { p: null }, 'no draws')
})

test('uneven draws are noticed, few and many', async (t) => {
  const rows: readonly (readonly [rare: boolean, test: FrequencyTest])[] = [
    [true, even([600, 400])],
    [true, even([400, 600])],
    [true, even([5_004_000, 4_996_000])],
    [false, even([5_001_000, 4_999_000])],
    [true, hitsOf(4, 3, 1e-4)],
    [false, hitsOf(4, 1, 0.1)],
    [true, hitsOf(1_000_000_000, 0, 1e-7)],
    [false, hitsOf(1_000_000_000, 80, 1e-7)],
  ]
  for (const [isRare, { p }] of rows) t.equal(p !== null && p < 0.05, isRare, `p = ${p}`)
})

test('no fair game of two outcomes alarms more often than its limit says', async () => {
  const limits = constantFrom(0.1, 0.01, 1e-3, 1e-6)
  assert(
    property(
      integer({ min: 1, max: 300 }),
      double({ min: 1e-6, max: 0.999, noNaN: true }),
      limits,
      (draws, share, limit) => {
        const rate = rateOf(draws, share, ({ p }) => p !== null && p < limit)
        return rate <= limit * (1 + 1e-9)
      },
    ),
    runs(200),
  )
})

test('generated months of a fair game with rare outcomes are rare no more often than they should be', async (t) => {
  const weights = [6_400, 2_400, 950, 200, 49, 1]
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  // A linear congruential generator: the same months each time.
  let state = 20_261_127
  const number = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
  const months = 5_000
  let rare = 0
  for (let month = 0; month < months; month += 1) {
    const counts = weights.map(() => 0)
    for (let draw = 0; draw < 400; draw += 1) {
      let r = Math.floor(number() * total)
      const row = weights.findIndex((weight) => (r -= weight) < 0)
      counts[row] = (counts[row] ?? 0) + 1
    }
    const { p } = testFrequencies(weights.map((weight, i) => ({ observed: counts[i] ?? 0, expected: weight / total })))
    if (p !== null && p < 0.01) rare += 1
  }
  t.ok(rare > 0 && rare <= months * 0.01, `${rare} of ${months} months below 0.01`)
})
