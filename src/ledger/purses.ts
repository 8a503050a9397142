/** What an account holds. */
interface Purse {
  readonly account: string
  /** Whether there is such a row. */
  there: boolean
  /** As long as that is exact; else `exact` counts. */
  balance: number
  exact: bigint | null
}

/**
 * The balances of a replay. Most of what a replay does is to add to them: they are numbers as long as those are exact,
 * and changed where they stand, so that nothing is made for a movement.
 */
export class Purses {
  readonly #purses = new Map<string, Purse>()
  /** What was changed since the last checkpoint, place by place, and how it was before. Of the places so many count. */
  readonly #changed: Purse[] = []
  readonly #wereThere: boolean[] = []
  readonly #balances: number[] = []
  readonly #exacts: (bigint | null)[] = []
  #changes = 0

  get(account: string): bigint | undefined {
    const purse = this.#purses.get(account)
    return purse?.there ? (purse.exact ?? BigInt(purse.balance)) : undefined
  }

  set(account: string, balance: bigint | undefined): void {
    const purse = this.#toChange(account)
    purse.there = balance !== undefined
    put(purse, balance ?? 0n)
  }

  /** Answers what the account then holds. */
  add(account: string, change: number | bigint): number | bigint {
    const purse = this.#toChange(account)
    purse.there = true
    if (purse.exact === null && typeof change === 'number') {
      const sum = purse.balance + change
      if (Number.isSafeInteger(sum)) return (purse.balance = sum)
    }
    return put(purse, (purse.exact ?? BigInt(purse.balance)) + BigInt(change))
  }

  *accounts(): Iterable<string> {
    for (const { account, there } of this.#purses.values()) if (there) yield account
  }

  checkpoint(): void {
    this.#changes = 0
  }

  rollback(): void {
    while (this.#changes > 0) {
      const place = (this.#changes -= 1)
      const purse = this.#changed[place]
      if (purse === undefined) continue
      purse.there = this.#wereThere[place] ?? false
      purse.balance = this.#balances[place] ?? 0
      purse.exact = this.#exacts[place] ?? null
    }
  }

  #toChange(account: string): Purse {
    let purse = this.#purses.get(account)
    if (purse === undefined) this.#purses.set(account, (purse = { account, there: false, balance: 0, exact: null }))
    const place = this.#changes
    this.#changes += 1
    this.#changed[place] = purse
    this.#wereThere[place] = purse.there
    this.#balances[place] = purse.balance
    this.#exacts[place] = purse.exact
    return purse
  }
}

function put(purse: Purse, balance: bigint): number | bigint {
  const number = Number(balance)
  const safe = Number.isSafeInteger(number)
  purse.balance = safe ? number : 0
  purse.exact = safe ? null : balance
  return safe ? number : balance
}
