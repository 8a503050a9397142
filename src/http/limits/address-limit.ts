import { addressKey } from './client-address.ts'

const WINDOW_MS = 60_000
/** Addresses that are counted at a time, at about 150 bytes each. */
const MAX_ADDRESSES = 100_000
/** Entries that are looked at to make room for one. */
const MAX_EVICTION_PROBES = 8
/** All addresses for which there is no room share one entry. */
const OVERFLOW = 'overflow'

interface Entry {
  /** Since the window began; what was refused is not counted. */
  taken: number
  startedAt: number
}

/**
 * How much an address may ask for within a minute without a good token. What it has taken is counted by window; an
 * entry makes room for another only once an even refill would have returned all that it took, so whoever changes
 * addresses to be forgotten gains nothing. Where nothing can make room, addresses that are new share one allowance.
 */
export class AddressLimit {
  readonly #perMinute: number | null
  readonly #now: () => number
  readonly #maxAddresses: number
  /** Mostly in the order of their windows. */
  readonly #entries = new Map<string, Entry>()

  /** Null is no limit. `now` is in milliseconds, of a clock that never goes back. */
  constructor(
    perMinute: number | null,
    { now = () => performance.now(), maxAddresses = MAX_ADDRESSES }: { now?: () => number; maxAddresses?: number } = {},
  ) {
    this.#perMinute = perMinute
    this.#now = now
    this.#maxAddresses = maxAddresses
  }

  /**
   * Takes from what the address may still ask for; false, and nothing is taken, when that is not enough. Nothing costs
   * more than all that is allowed, or it could never be asked for.
   */
  take(ip: string, cost = 1): boolean {
    if (this.#perMinute === null) return true
    const now = this.#now()
    const entry = this.#entryFor(addressKey(ip), now)
    const taken = entry.taken + Math.min(cost, this.#perMinute)
    if (taken > this.#perMinute) return false
    entry.taken = taken
    return true
  }

  /** Seconds until the address may ask again. */
  retryAfter(ip: string): number {
    const entry = this.#entries.get(addressKey(ip)) ?? this.#entries.get(OVERFLOW)
    if (entry === undefined) return 1
    return Math.max(1, Math.ceil((entry.startedAt + WINDOW_MS - this.#now()) / 1000))
  }

  get size(): number {
    return this.#entries.size
  }

  #entryFor(key: string, now: number): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      if (now < known.startedAt + WINDOW_MS) return known
      this.#entries.delete(key)
    }
    if (key !== OVERFLOW && !this.#makeRoom(now)) return this.#entryFor(OVERFLOW, now)
    const entry = { taken: 0, startedAt: now }
    this.#entries.set(key, entry)
    return entry
  }

  /** Removes what is over; false when there is room for no other entry. */
  #makeRoom(now: number): boolean {
    for (const [key, { startedAt }] of this.#entries) {
      if (now < startedAt + WINDOW_MS) break
      this.#entries.delete(key)
    }
    let looks = 0
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size < this.#maxAddresses) return true
      if (looks === MAX_EVICTION_PROBES) return false
      looks += 1
      this.#entries.delete(key)
      // To the back, so that the next look finds others.
      if (!this.#isRefilled(entry, now)) this.#entries.set(key, entry)
    }
    return this.#entries.size < this.#maxAddresses
  }

  #isRefilled({ taken, startedAt }: Entry, now: number): boolean {
    return this.#perMinute === null || now - startedAt >= (taken * WINDOW_MS) / this.#perMinute
  }
}
