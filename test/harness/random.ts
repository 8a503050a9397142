/** Random numbers that their seed repeats (mulberry32). */
export class Random {
  readonly seed: number
  #state: number

  constructor(seed: number) {
    this.seed = seed
    this.#state = seed
  }

  /** A whole number from `min` on and below `max`. */
  int(min: number, max: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return min + Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * (max - min))
  }

  oneOf<T>(list: readonly T[]): T {
    const one = list[this.int(0, list.length)]
    if (one === undefined) throw new Error('nothing to choose from')
    return one
  }

  /** True with this probability. */
  chance(percent: number): boolean {
    return this.int(0, 100) < percent
  }
}
