/**
 * Balances of a replay, by place. Most of what a replay does is to add to them: they are numbers as long as those are
 * exact, side by side in one list, so that nothing is made for a movement and little memory is touched.
 */
export class Accumulators {
  /** Not a number where there is none, or where it is too large to be exact. */
  readonly #sums: number[] = []
  readonly #large = new Map<number, bigint>()
  /** What was changed since the last checkpoint, place by place, and how it was before. Of the places so many count. */
  readonly #undoIndexes: number[] = []
  readonly #undoSums: number[] = []
  readonly #undoLarge: (bigint | undefined)[] = []
  #undoLength = 0

  /** A new place, in which there is none yet; the first is 0. */
  allocate(): number {
    return this.#sums.push(Number.NaN) - 1
  }

  /** Undefined when there is none. */
  get(place: number): number | bigint | undefined {
    const sum = this.#sums[place] ?? Number.NaN
    return Number.isNaN(sum) ? this.#large.get(place) : sum
  }

  set(place: number, sum: bigint | undefined): void {
    this.#saveUndo(place)
    if (sum === undefined) this.#write(place, Number.NaN, undefined)
    else this.#writeExact(place, sum)
  }

  /** Answers what it then is. */
  add(place: number, change: number | bigint): number | bigint {
    this.#saveUndo(place)
    if (typeof change === 'number') {
      const sum = (this.#sums[place] ?? Number.NaN) + change
      if (Number.isSafeInteger(sum)) return (this.#sums[place] = sum)
    }
    return this.#writeExact(place, BigInt(this.get(place) ?? 0) + BigInt(change))
  }

  /** What was changed until now stays. */
  checkpoint(): void {
    this.#undoLength = 0
  }

  /** Takes back what was changed since the last checkpoint. */
  rollback(): void {
    while (this.#undoLength > 0) {
      const change = (this.#undoLength -= 1)
      this.#write(this.#undoIndexes[change] ?? 0, this.#undoSums[change] ?? Number.NaN, this.#undoLarge[change])
    }
  }

  #writeExact(place: number, sum: bigint): number | bigint {
    const number = Number(sum)
    if (Number.isSafeInteger(number)) {
      this.#write(place, number, undefined)
      return number
    }
    this.#write(place, Number.NaN, sum)
    return sum
  }

  #write(place: number, sum: number, large: bigint | undefined): void {
    this.#sums[place] = sum
    if (large !== undefined) this.#large.set(place, large)
    else if (this.#large.size > 0) this.#large.delete(place)
  }

  #saveUndo(place: number): void {
    const sum = this.#sums[place] ?? Number.NaN
    const change = this.#undoLength
    this.#undoLength += 1
    this.#undoIndexes[change] = place
    this.#undoSums[change] = sum
    this.#undoLarge[change] = Number.isNaN(sum) ? this.#large.get(place) : undefined
  }
}
