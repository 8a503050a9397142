import type { Balance } from '../rules/account.ts'
import { Sums } from './accumulators.ts'
import type { GoingOver } from './sweep-cursor.ts'

const TAKEN = 1

/** The balances of a replay, by the names of accounts. */
export class Purses {
  readonly #places = new Map<string, number>()
  readonly #sums = new Sums()

  get(account: string): bigint | undefined {
    const place = this.#places.get(account)
    return place === undefined ? undefined : this.#at(place)
  }

  set(account: string, balance: bigint | undefined): void {
    this.#sums.set(this.#placeOf(account), balance)
  }

  /** Answers what the account then holds. */
  add(account: string, change: number | bigint): number | bigint {
    return this.#sums.add(this.#placeOf(account), change)
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
    this.#sums.checkpoint()
  }

  rollback(): void {
    this.#sums.rollback()
  }

  *#accountsThat(wanted: (place: number) => boolean): Iterable<string> {
    for (const [account, place] of this.#places) if (wanted(place) && this.#sums.at(place) !== undefined) yield account
  }

  #at(place: number): bigint | undefined {
    const sum = this.#sums.at(place)
    return sum === undefined ? undefined : BigInt(sum)
  }

  #placeOf(account: string): number {
    let place = this.#places.get(account)
    if (place === undefined) {
      place = this.#sums.make()
      this.#places.set(account, place)
    }
    return place
  }
}
