/** How often an outcome was drawn, and how often it is expected. */
export interface Frequency {
  readonly observed: number
  /** As a share of all draws, from 0 to 1. */
  readonly expected: number
}

/** What frequencies say about draws. */
export interface FrequencyTest {
  readonly draws: number
  /** Pearson's chi-square, for people: nothing is judged by it, as its distribution is an approximation. */
  readonly statistic: number
  /** Degrees of freedom of the chi-square; 0 when there are too few draws for one. */
  readonly degrees: number
  /**
   * At most in this share of such periods do fair draws deviate as much from the expected frequencies, or more; null
   * without draws, or with only one outcome, when there is nothing to judge.
   */
  readonly p: number | null
}

/** Draws that are less probable than this are an observation: a fair game has one in a million months. */
export const MIN_P_VALUE = 1e-6

/**
 * Judges draws by the outcome that is the least probable one: the tail of its binomial distribution, exactly, times two
 * for either tail, times the number of outcomes. So fair draws have a p below any limit at most in that share of periods,
 * however rare an outcome is; a chi-square calls fair draws improbable many times too often where it expects few.
 */
export function testFrequencies(frequencies: readonly Frequency[]): FrequencyTest {
  const draws = frequencies.reduce((sum, { observed }) => sum + observed, 0)
  const isJudged = draws > 0 && frequencies.length > 1
  const tails = frequencies.map(({ observed, expected }) => tailOf(draws, observed, expected))
  const p = isJudged ? Math.min(1, 2 * frequencies.length * Math.min(...tails)) : null
  return { draws, ...chiSquare(frequencies, draws), p }
}

/** The probability of as few hits or fewer, or of as many or more, whichever side of the expected number it is. */
const tailOf = (draws: number, hits: number, share: number): number =>
  hits >= draws * share ? upperTail(draws, hits, share) : upperTail(draws, draws - hits, 1 - share)

/** A term that is smaller than this share of the sum changes it no more. */
const PRECISION = 1e-17

/**
 * The probability of at least `hits`, which are not fewer than expected, in so many independent draws that each hit with
 * the probability `share`, between 0 and 1. Each term is smaller than the one before it.
 */
export function upperTail(draws: number, hits: number, share: number): number {
  const odds = share / (1 - share)
  let term = Math.exp(
    logFactorial(draws) -
      logFactorial(hits) -
      logFactorial(draws - hits) +
      hits * Math.log(share) +
      (draws - hits) * Math.log1p(-share),
  )
  let sum = 0
  for (let k = hits; term > sum * PRECISION; k += 1) {
    sum += term
    term *= (odds * (draws - k)) / (k + 1)
  }
  return Math.min(1, sum)
}

/** ln n!, Lanczos' approximation. */
function logFactorial(n: number): number {
  const coefficients = [
    76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 0.001208650973866179,
    -0.000005395239384953,
  ]
  const x = n + 1
  const base = x + 5.5
  const sum = coefficients.reduce((total, coefficient, i) => total + coefficient / (x + i + 1), 1.000000000190015)
  return Math.log((2.5066282746310007 * sum) / x) - base + (x + 0.5) * Math.log(base)
}

/** The usual rule (Cochran 1954): each outcome is expected at least five times. Rarer ones are merged. */
const MIN_EXPECTED_DRAWS = 5

/** Pearson's chi-square of the outcomes after rare ones were merged. */
function chiSquare(frequencies: readonly Frequency[], draws: number): Pick<FrequencyTest, 'statistic' | 'degrees'> {
  const cells: { observed: number; expected: number }[] = []
  // Rare rows first, so that they are merged with each other.
  for (const { observed, expected } of frequencies.toSorted((a, b) => a.expected - b.expected)) {
    const last = cells.at(-1)
    if (last === undefined || last.expected >= MIN_EXPECTED_DRAWS) cells.push({ observed, expected: expected * draws })
    else cells.splice(-1, 1, { observed: last.observed + observed, expected: last.expected + expected * draws })
  }
  // What is left of the most frequent rows may still be too rare.
  const [before, last] = cells.slice(-2)
  if (before !== undefined && last !== undefined && last.expected < MIN_EXPECTED_DRAWS) {
    cells.splice(-2, 2, { observed: before.observed + last.observed, expected: before.expected + last.expected })
  }
  const statistic = cells.reduce((sum, { observed, expected }) => sum + (observed - expected) ** 2 / expected, 0)
  const degrees = Math.max(0, cells.length - 1)
  return degrees === 0 ? { statistic: 0, degrees } : { statistic, degrees }
}
