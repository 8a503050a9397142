import type { onRequestHookHandler } from 'fastify'
import { rateLimited } from '../errors/http-error.ts'
import type { Metrics } from '../observability/metrics.ts'

const DAY_MS = 86_400_000
/** Entries of about 150 bytes each. */
const MAX_USERS = 100_000
/** Entries examined to make room for one. */
const MAX_EVICTION_PROBES = 32
/** Interval between two reports of the same user. */
const REPORT_INTERVAL_MS = 3_600_000

interface Entry {
  /** Bytes spent, less those refilled until `at`. */
  spent: number
  at: number
  reportedAt: number
}

/**
 * Limits the bytes that each user may store in a day for free, refilled evenly. A command's bytes are known once it
 * is committed: they are charged then, and a user with nothing left is refused the next command.
 *
 * Evicts the user who spent least among those examined, so that flooding the table with users does not reset an
 * allowance.
 */
export class WriteAllowance {
  readonly #dailyBytes: number | null
  readonly #now: () => number
  readonly #maxUsers: number
  /** Not an LRU cache, which would evict users who have nothing left and wait. */
  readonly #entries = new Map<number, Entry>()

  /** Null is no limit. `now` is a monotonic clock in milliseconds. */
  constructor(
    dailyBytes: number | null,
    { now = () => performance.now(), maxUsers = MAX_USERS }: { now?: () => number; maxUsers?: number } = {},
  ) {
    this.#dailyBytes = dailyBytes
    this.#now = now
    this.#maxUsers = maxUsers
  }

  /** Whether the user may store more. */
  hasLeft(userId: number): boolean {
    if (this.#dailyBytes === null) return true
    const entry = this.#entries.get(userId)
    return entry === undefined || this.#spentNow(entry, this.#now()) < this.#dailyBytes
  }

  /** Seconds until the user may store more. */
  retryAfter(userId: number): number {
    const entry = this.#entries.get(userId)
    if (entry === undefined || this.#dailyBytes === null) return 0
    const beyond = this.#spentNow(entry, this.#now()) - this.#dailyBytes
    return beyond < 0 ? 0 : Math.floor((beyond * DAY_MS) / this.#dailyBytes / 1000) + 1
  }

  /** Charges stored bytes; true when nothing is left and the user was not reported recently. */
  spend(userId: number, bytes: number): boolean {
    if (this.#dailyBytes === null || bytes === 0) return false
    const now = this.#now()
    let entry = this.#entries.get(userId)
    if (entry === undefined) {
      if (this.#entries.size >= this.#maxUsers) this.#makeRoom(now)
      entry = { spent: 0, at: now, reportedAt: Number.NEGATIVE_INFINITY }
      this.#entries.set(userId, entry)
    }
    entry.spent = this.#spentNow(entry, now) + bytes
    entry.at = now
    if (entry.spent < this.#dailyBytes || now - entry.reportedAt < REPORT_INTERVAL_MS) return false
    entry.reportedAt = now
    return true
  }

  get size(): number {
    return this.#entries.size
  }

  #spentNow({ spent, at }: Entry, now: number): number {
    return Math.max(0, spent - ((now - at) * (this.#dailyBytes ?? 0)) / DAY_MS)
  }

  #makeRoom(now: number): void {
    let least: { readonly userId: number; readonly spent: number } | undefined
    let probes = 0
    for (const [userId, entry] of this.#entries) {
      if (probes === MAX_EVICTION_PROBES) break
      probes += 1
      const spent = this.#spentNow(entry, now)
      if (least === undefined || spent < least.spent) least = { userId, spent }
      // To the end, so that the next eviction examines others.
      this.#entries.delete(userId)
      this.#entries.set(userId, entry)
    }
    if (least !== undefined) this.#entries.delete(least.userId)
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How a route that writes uses its user's allowance of stored bytes. By default it is charged for all that it stores
     * and refused when nothing is left. `paid`: never refused, and charged only when it fails, because a success is paid
     * for. `charge-only`: charged but never refused, because it pays value out or stores nothing.
     */
    writes?: 'paid' | 'charge-only'
  }
}

/** Refuses writes of a user over the allowance; it runs after the rate limit. */
export const writeCheck =
  (writes: WriteAllowance, metrics: Pick<Metrics, 'refused'>): onRequestHookHandler =>
  ({ caller, method, routeOptions: { config, url } }, _reply, done) => {
    const isRefusable = url !== undefined && method !== 'GET' && method !== 'HEAD' && config.writes === undefined
    if (!isRefusable || caller.kind !== 'user' || writes.hasLeft(caller.id)) return done()
    metrics.refused('written_bytes')
    done(rateLimited(writes.retryAfter(caller.id)))
  }
