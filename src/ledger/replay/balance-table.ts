import type { Balance } from '../rules/account.ts'
import { Accumulators } from './accumulators.ts'
import type { SweepCursor } from './sweep-cursor.ts'

const VISITED = 1

/** The balances of a replay, by account. */
export class BalanceTable {
  readonly #indexes = new Map<string, number>()
  readonly #accumulators = new Accumulators()

  get(account: string): bigint | undefined {
    const place = this.#indexes.get(account)
    return place === undefined ? undefined : this.#balanceAt(place)
  }

  set(account: string, balance: bigint | undefined): void {
    this.#accumulators.set(this.#indexOf(account), balance)
  }

  /** Returns the new balance. */
  add(account: string, change: number | bigint): number | bigint {
    return this.#accumulators.add(this.#indexOf(account), change)
  }

  sweep(): SweepCursor {
    const places = this.#indexes
    const taken = new Uint8Array(places.size)
    return {
      visit: (account): Balance | undefined => {
        const place = places.get(account)
        if (place === undefined || taken[place] === VISITED) return undefined
        taken[place] = VISITED
        const balance = this.#balanceAt(place)
        return balance === undefined ? undefined : { account, balance }
      },
      unvisited: () => this.#filterAccounts((place) => taken[place] !== VISITED),
    }
  }

  accounts(): Iterable<string> {
    return this.#filterAccounts(() => true)
  }

  checkpoint(): void {
    this.#accumulators.checkpoint()
  }

  rollback(): void {
    this.#accumulators.rollback()
  }

  *#filterAccounts(wanted: (place: number) => boolean): Iterable<string> {
    for (const [account, place] of this.#indexes)
      if (wanted(place) && this.#accumulators.get(place) !== undefined) yield account
  }

  #balanceAt(place: number): bigint | undefined {
    const sum = this.#accumulators.get(place)
    return sum === undefined ? undefined : BigInt(sum)
  }

  #indexOf(account: string): number {
    let place = this.#indexes.get(account)
    if (place === undefined) {
      place = this.#accumulators.allocate()
      this.#indexes.set(account, place)
    }
    return place
  }
}
