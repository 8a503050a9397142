import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const WINDOW_MS = 60_000
/** Entries of about 150 bytes each. */
const MAX_ADDRESSES = 100_000
/** Entries examined to make room for one. */
const MAX_EVICTION_PROBES = 8
/** Addresses for which there is no room share this entry. */
const OVERFLOW = 'overflow'

interface Entry {
  /** Cost accepted since the window began. */
  taken: number
  startedAt: number
}

/**
 * Limits what an address may ask for within a minute without a valid token, counted by window. An entry is evicted only
 * once an even refill would have returned all that it took, so that flooding the table with addresses does not reset a
 * limit. When no entry can be evicted, new addresses share one limit.
 */
export class AddressLimit {
  readonly #perMinute: number | null
  readonly #now: () => number
  readonly #maxAddresses: number
  /** Roughly in the order of their windows. Not an LRU cache, which would evict addresses that are at their limit. */
  readonly #entries = new Map<string, Entry>()

  /** Null is no limit. `now` is a monotonic clock in milliseconds. */
  constructor(
    perMinute: number | null,
    { now = () => performance.now(), maxAddresses = MAX_ADDRESSES }: { now?: () => number; maxAddresses?: number } = {},
  ) {
    this.#perMinute = perMinute
    this.#now = now
    this.#maxAddresses = maxAddresses
  }

  /**
   * Takes `cost` from the address's limit; false, and nothing is taken, when too little is left. The cost is capped at
   * the whole limit: otherwise such a request could never succeed.
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

  /** Seconds until the window ends. */
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

  /** Evicts expired entries; false when there is no room for another one. */
  #makeRoom(now: number): boolean {
    for (const [key, { startedAt }] of this.#entries) {
      if (now < startedAt + WINDOW_MS) break
      this.#entries.delete(key)
    }
    let probes = 0
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size < this.#maxAddresses) return true
      if (probes === MAX_EVICTION_PROBES) return false
      probes += 1
      this.#entries.delete(key)
      // To the end, so that the next eviction examines others.
      if (!this.#isRefilled(entry, now)) this.#entries.set(key, entry)
    }
    return this.#entries.size < this.#maxAddresses
  }

  #isRefilled({ taken, startedAt }: Entry, now: number): boolean {
    return this.#perMinute === null || now - startedAt >= (taken * WINDOW_MS) / this.#perMinute
  }
}

/**
 * The key that requests of an address are counted under: IPv4 whole, an IPv4-mapped IPv6 address as IPv4, any other
 * IPv6 address by its first 64 bits, because every subscriber controls the rest. Anything else shares one key.
 */
export function addressKey(address: string): string {
  const text = withoutPort(address).replace(/%.*$/s, '')
  // The parser would take forms that no proxy writes, such as `127.1`.
  if (isIP(text) === 0) return 'unknown'
  const ip = ipaddr.parse(text)
  if (!('parts' in ip)) return ip.toString()
  if (ip.isIPv4MappedAddress()) return ip.toIPv4Address().toString()
  const network = ip.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}

/** Some proxies put a port in `X-Forwarded-For`: `1.2.3.4:56` or `[2001:db8::1]:56`. */
function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(address) ?? []
  return ipv6 ?? ipv4 ?? address
}
