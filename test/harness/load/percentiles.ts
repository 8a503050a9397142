/** Collects numbers without allocating memory for each of them. */
export class Samples {
  #values = new Float64Array(65_536)
  #count = 0

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count] = value
    this.#count += 1
  }

  /** In ascending order. */
  sorted(): Float64Array {
    return this.#values.slice(0, this.#count).sort()
  }
}

/** The nearest-rank percentile: the smallest value with at least `percent` of all values not above it. `sorted` ascends. */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length))
  const value = sorted[rank - 1]
  if (value === undefined) throw new Error('a percentile of nothing')
  return value
}

/** The middle value; for an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return (percentile(sorted, 50) + (sorted[Math.floor(half)] ?? Number.NaN)) / 2
}
