/**
 * The balances of a replay, by index. Adding to them is most of a replay's work: they are numbers in one array as long
 * as those are exact, so that a movement allocates nothing and touches little memory.
 */
export class Accumulators {
  /** NaN where there is no balance, or where it is too large for a number and in `#large`. */
  readonly #sums: number[] = []
  readonly #large = new Map<number, bigint>()
  /** The changes since the last checkpoint; only the first `#undoLength` entries count. */
  readonly #undoIndexes: number[] = []
  readonly #undoSums: number[] = []
  readonly #undoLarge: (bigint | undefined)[] = []
  #undoLength = 0

  /** A new index without a balance; the first is 0. */
  allocate(): number {
    return this.#sums.push(Number.NaN) - 1
  }

  get(place: number): number | bigint | undefined {
    const sum = this.#sums[place] ?? Number.NaN
    return Number.isNaN(sum) ? this.#large.get(place) : sum
  }

  set(place: number, sum: bigint | undefined): void {
    this.#saveUndo(place)
    if (sum === undefined) this.#write(place, Number.NaN, undefined)
    else this.#writeExact(place, sum)
  }

  /** Returns the new balance. */
  add(place: number, change: number | bigint): number | bigint {
    this.#saveUndo(place)
    if (typeof change === 'number') {
      const sum = (this.#sums[place] ?? Number.NaN) + change
      if (Number.isSafeInteger(sum)) return (this.#sums[place] = sum)
    }
    return this.#writeExact(place, BigInt(this.get(place) ?? 0) + BigInt(change))
  }

  /** Keeps the changes so far. */
  checkpoint(): void {
    this.#undoLength = 0
  }

  /** Undoes the changes since the last checkpoint. */
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
