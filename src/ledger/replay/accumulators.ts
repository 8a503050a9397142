/**
 * Balances of a replay, by place. Most of what a replay does is to add to them: they are numbers as long as those are
 * exact, side by side in one list, so that nothing is made for a movement and little memory is touched.
 */
export class Sums {
  /** Not a number where there is none, or where it is too large to be exact. */
  readonly #sums: number[] = []
  readonly #large = new Map<number, bigint>()
  /** What was changed since the last checkpoint, place by place, and how it was before. Of the places so many count. */
  readonly #changed: number[] = []
  readonly #before: number[] = []
  readonly #largeBefore: (bigint | undefined)[] = []
  #changes = 0

  /** A new place, in which there is none yet; the first is 0. */
  make(): number {
    return this.#sums.push(Number.NaN) - 1
  }

  /** Undefined when there is none. */
  at(place: number): number | bigint | undefined {
    const sum = this.#sums[place] ?? Number.NaN
    return Number.isNaN(sum) ? this.#large.get(place) : sum
  }

  set(place: number, sum: bigint | undefined): void {
    this.#note(place)
    if (sum === undefined) this.#put(place, Number.NaN, undefined)
    else this.#putExact(place, sum)
  }

  /** Answers what it then is. */
  add(place: number, change: number | bigint): number | bigint {
    this.#note(place)
    if (typeof change === 'number') {
      const sum = (this.#sums[place] ?? Number.NaN) + change
      if (Number.isSafeInteger(sum)) return (this.#sums[place] = sum)
    }
    return this.#putExact(place, BigInt(this.at(place) ?? 0) + BigInt(change))
  }

  /** What was changed until now stays. */
  checkpoint(): void {
    this.#changes = 0
  }

  /** Takes back what was changed since the last checkpoint. */
  rollback(): void {
    while (this.#changes > 0) {
      const change = (this.#changes -= 1)
      this.#put(this.#changed[change] ?? 0, this.#before[change] ?? Number.NaN, this.#largeBefore[change])
    }
  }

  #putExact(place: number, sum: bigint): number | bigint {
    const number = Number(sum)
    if (Number.isSafeInteger(number)) {
      this.#put(place, number, undefined)
      return number
    }
    this.#put(place, Number.NaN, sum)
    return sum
  }

  #put(place: number, sum: number, large: bigint | undefined): void {
    this.#sums[place] = sum
    if (large !== undefined) this.#large.set(place, large)
    else if (this.#large.size > 0) this.#large.delete(place)
  }

  #note(place: number): void {
    const sum = this.#sums[place] ?? Number.NaN
    const change = this.#changes
    this.#changes += 1
    this.#changed[change] = place
    this.#before[change] = sum
    this.#largeBefore[change] = Number.isNaN(sum) ? this.#large.get(place) : undefined
  }
}
