import type { Balance } from './account.ts'
import type { GoingOver } from './going-over.ts'

const TAKEN = 1

/**
 * The balances of a replay. Most of what a replay does is to add to them: they are numbers as long as those are exact,
 * side by side in one list, so that nothing is made for a movement and little memory is touched.
 */
export class Purses {
  readonly #places = new Map<string, number>()
  /** By place; not a number where there is no such row, or where it is too large to be exact. */
  readonly #balances: number[] = []
  readonly #large = new Map<number, bigint>()
  /** What was changed since the last checkpoint, place by place, and how it was before. Of the places so many count. */
  readonly #changed: number[] = []
  readonly #before: number[] = []
  readonly #largeBefore: (bigint | undefined)[] = []
  #changes = 0

  get(account: string): bigint | undefined {
    const place = this.#places.get(account)
    return place === undefined ? undefined : this.#at(place)
  }

  set(account: string, balance: bigint | undefined): void {
    const place = this.#toChange(account)
    if (balance === undefined) this.#put(place, Number.NaN, undefined)
    else this.#putExact(place, balance)
  }

  /** Answers what the account then holds. */
  add(account: string, change: number | bigint): number | bigint {
    const place = this.#toChange(account)
    if (typeof change === 'number') {
      const sum = (this.#balances[place] ?? Number.NaN) + change
      if (Number.isSafeInteger(sum)) return (this.#balances[place] = sum)
    }
    return this.#putExact(place, (this.#at(place) ?? 0n) + BigInt(change))
  }

  goOver(): GoingOver {
    const places = this.#places
    const taken = new Uint8Array(places.size)
    return {
      take: (account): Balance | undefined => {
        const place = places.get(account)
        if (place === undefined || taken[place] === TAKEN) return undefined
        taken[place] = TAKEN
        const balance = this.#at(place)
        return balance === undefined ? undefined : { account, balance }
      },
      left: () => this.#accountsThat((place) => taken[place] !== TAKEN),
    }
  }

  accounts(): Iterable<string> {
    return this.#accountsThat(() => true)
  }

  checkpoint(): void {
    this.#changes = 0
  }

  rollback(): void {
    while (this.#changes > 0) {
      const change = (this.#changes -= 1)
      this.#put(this.#changed[change] ?? 0, this.#before[change] ?? Number.NaN, this.#largeBefore[change])
    }
  }

  *#accountsThat(wanted: (place: number) => boolean): Iterable<string> {
    for (const [account, place] of this.#places) if (wanted(place) && this.#at(place) !== undefined) yield account
  }

  #at(place: number): bigint | undefined {
    const balance = this.#balances[place] ?? Number.NaN
    return Number.isNaN(balance) ? this.#large.get(place) : BigInt(balance)
  }

  #putExact(place: number, balance: bigint): number | bigint {
    const number = Number(balance)
    if (Number.isSafeInteger(number)) {
      this.#put(place, number, undefined)
      return number
    }
    this.#put(place, Number.NaN, balance)
    return balance
  }

  #put(place: number, balance: number, large: bigint | undefined): void {
    this.#balances[place] = balance
    if (large !== undefined) this.#large.set(place, large)
    else if (this.#large.size > 0) this.#large.delete(place)
  }

  #toChange(account: string): number {
    let place = this.#places.get(account)
    if (place === undefined) {
      place = this.#balances.push(Number.NaN) - 1
      this.#places.set(account, place)
    }
    const balance = this.#balances[place] ?? Number.NaN
    const change = this.#changes
    this.#changes += 1
    this.#changed[change] = place
    this.#before[change] = balance
    this.#largeBefore[change] = Number.isNaN(balance) ? this.#large.get(place) : undefined
    return place
  }
}
