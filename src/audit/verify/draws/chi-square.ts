/** How often an outcome was drawn, and how often it is expected. */
export interface Frequency {
  readonly observed: number
  /** As a share of all draws, from 0 to 1. */
  readonly expected: number
}

export interface ChiSquare {
  readonly draws: number
  readonly statistic: number
  readonly degrees: number
  /**
   * The probability that fair draws deviate as much from the expected frequencies, or more; null when there are too few
   * draws, or only one outcome, to judge by.
   */
  readonly p: number | null
}

/**
 * The usual rule for Pearson's test (Cochran 1954): each outcome is expected at least five times, as its distribution is
 * an approximation. Rarer outcomes are merged.
 */
const MIN_EXPECTED_DRAWS = 5

/** Pearson's chi-squared test. It needs two outcomes after rare ones were merged. */
export function chiSquare(frequencies: readonly Frequency[]): ChiSquare {
  const draws = frequencies.reduce((sum, { observed }) => sum + observed, 0)
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
  const degrees = Math.max(0, cells.length - 1)
  const statistic = cells.reduce((sum, { observed, expected }) => sum + (observed - expected) ** 2 / expected, 0)
  return { draws, statistic, degrees, p: degrees === 0 ? null : upperGamma(degrees / 2, statistic / 2) }
}

/** The regularised upper incomplete gamma function Q(a, x): a series below a + 1, a continued fraction above. */
function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a))
  return x < a + 1 ? Math.max(0, 1 - scale * series(a, x)) : scale * fraction(a, x)
}

const PRECISION = 1e-15
const MAX_ITERATIONS = 10_000

function series(a: number, x: number): number {
  let term = 1 / a
  let sum = term
  for (let n = 1; n < MAX_ITERATIONS && term > sum * PRECISION; n += 1) {
    term *= x / (a + n)
    sum += term
  }
  return sum
}

/** Lentz's method. */
function fraction(a: number, x: number): number {
  const tiny = 1e-300
  let b = x + 1 - a
  let c = 1 / tiny
  let d = 1 / b
  let product = d
  for (let n = 1; n < MAX_ITERATIONS; n += 1) {
    const factor = -n * (n - a)
    b += 2
    d = 1 / (Math.abs(factor * d + b) < tiny ? tiny : factor * d + b)
    c = Math.abs(b + factor / c) < tiny ? tiny : b + factor / c
    product *= d * c
    if (Math.abs(d * c - 1) < PRECISION) break
  }
  return product
}

/** ln Γ(x) for x > 0, Lanczos' approximation. */
function logGamma(x: number): number {
  const coefficients = [
    76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 0.001208650973866179,
    -0.000005395239384953,
  ]
  const base = x + 5.5
  const sum = coefficients.reduce((total, coefficient, i) => total + coefficient / (x + i + 1), 1.000000000190015)
  return Math.log((2.5066282746310007 * sum) / x) - base + (x + 0.5) * Math.log(base)
}
