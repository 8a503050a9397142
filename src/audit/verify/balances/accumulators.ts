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

  get(index: number): number | bigint | undefined {
    const sum = this.#sums[index] ?? Number.NaN
    return Number.isNaN(sum) ? this.#large.get(index) : sum
  }

  set(index: number, sum: bigint | undefined): void {
    this.#saveUndo(index)
    if (sum === undefined) this.#write(index, Number.NaN, undefined)
    else this.#writeExact(index, sum)
  }

  /** Returns the new balance. */
  add(index: number, change: number | bigint): number | bigint {
    this.#saveUndo(index)
    if (typeof change === 'number') {
      const sum = (this.#sums[index] ?? Number.NaN) + change
      if (Number.isSafeInteger(sum)) return (this.#sums[index] = sum)
    }
    return this.#writeExact(index, BigInt(this.get(index) ?? 0) + BigInt(change))
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

  #writeExact(index: number, sum: bigint): number | bigint {
    const number = Number(sum)
    if (Number.isSafeInteger(number)) {
      this.#write(index, number, undefined)
      return number
    }
    this.#write(index, Number.NaN, sum)
    return sum
  }

  #write(index: number, sum: number, large: bigint | undefined): void {
    this.#sums[index] = sum
    if (large !== undefined) this.#large.set(index, large)
    else if (this.#large.size > 0) this.#large.delete(index)
  }

  #saveUndo(index: number): void {
    const sum = this.#sums[index] ?? Number.NaN
    const change = this.#undoLength
    this.#undoLength += 1
    this.#undoIndexes[change] = index
    this.#undoSums[change] = sum
    this.#undoLarge[change] = Number.isNaN(sum) ? this.#large.get(index) : undefined
  }
}
