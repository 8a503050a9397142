import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { actorOf, type Caller } from '../auth/caller.ts'
import { overloaded, rateLimited } from '../errors/http-error.ts'
import type { Metrics } from '../observability/metrics.ts'
import { acquire, release, type Semaphore } from './concurrency.ts'

/**
 * Requests of one caller that run at a time, so that only the caller waits for them, and requests that may wait: more
 * than the default limit accepts in a minute.
 */
const MAX_CONCURRENT = { running: 4, waiting: 2_000 }
/** Pause between two expensive requests of a caller, for each unit of cost above 1. */
const PAUSE_MS_PER_COST = 25
const MAX_REFUSAL_DELAY_MS = 5_000

const rateLimitEntry = Symbol('rate limit entry')

declare module 'fastify' {
  interface FastifyRequest {
    [rateLimitEntry]: RateLimitEntry | null
  }
  interface FastifyContextConfig {
    /** Cost of a request to the route, in ordinary requests; 1 by default. */
    cost?: number
  }
}

/** Charges a request for work that only its body reveals; the requests after it may be refused. */
export function charge(request: FastifyRequest, cost: number): void {
  const entry = request[rateLimitEntry]
  if (entry !== null) entry.taken += cost
}

/** Adds to requests what `charge` needs. */
export const decorateRateLimit = (app: FastifyInstance): void => void app.decorateRequest(rateLimitEntry, null)

/**
 * Limits the cost of a caller's requests a minute on this instance; it runs after the token check. An ordinary request
 * costs 1, an expensive one more. Accepted requests queue behind the caller's own. Refusals are delayed more and more, so
 * that a caller who retries at once gains nothing.
 */
export function rateLimitCheck(
  app: FastifyInstance,
  perMinute: number,
  metrics: Pick<Metrics, 'refused'>,
): onRequestHookHandler {
  const store = new RateLimitStore()
  /** Connections with a delayed refusal, and the function that sends it. */
  const delayed = new Map<Socket, () => void>()
  /** Starts the expensive requests that wait for the pause after the one before. */
  const paused = new Set<() => void>()
  let closing = false
  // A shutdown does not wait for delayed refusals.
  app.addHook('preClose', (done) => {
    closing = true
    for (const release of delayed.values()) release()
    for (const resume of paused) resume()
    done()
  })
  return (request, reply, done) => {
    const now = performance.now()
    const { caller } = request
    const entry = store.entryFor(keyOf(caller), now)
    // Staff define users and pay salaries by the thousand, so only their requests are counted. The cost is capped at
    // the whole limit: otherwise such a request could never succeed.
    const cost = caller.kind === 'user' ? Math.min(costOf(request), perMinute) : 1
    if (entry.taken + cost > perMinute) {
      entry.refused += 1
      metrics.refused('requests')
      if (entry.refused === 1)
        request.log.info({ caller: actorOf(caller) }, 'caller is over the rate limit; requests are refused')
      const refusal = rateLimited(secondsUntilEndOf(entry, now))
      const { socket } = request.raw
      // One delay per connection: later responses wait for it anyway, and Node stops reading when they are many.
      if (closing || delayed.has(socket)) return done(refusal)
      const release = (): void => {
        clearTimeout(timer)
        delayed.delete(socket)
        done(refusal)
      }
      const timer = setTimeout(release, Math.min(entry.refused, MAX_REFUSAL_DELAY_MS))
      delayed.set(socket, release)
      return
    }
    entry.taken += cost
    if (caller.kind === 'user') request[rateLimitEntry] = entry
    // An upgrade has no response that ends.
    if (Reflect.get(request.raw, 'upgrade') === true) return done()
    const { raw } = reply
    const start = (): boolean => {
      if (raw.destroyed) return false
      raw.once('close', () => release(entry))
      done()
      return true
    }
    const enter = (): void => {
      if (!acquire(entry, MAX_CONCURRENT, start)) done(overloaded())
    }
    const pause = cost > 1 && !closing ? pauseBefore(entry, cost, now) : 0
    if (pause === 0) return enter()
    const resume = (): void => {
      clearTimeout(timer)
      paused.delete(resume)
      enter()
    }
    const timer = setTimeout(resume, pause)
    paused.add(resume)
  }
}

/**
 * How long an expensive request waits, so that a caller cannot use the whole limit at once and occupy the event
 * loop.
 */
function pauseBefore(entry: RateLimitEntry, cost: number, now: number): number {
  const begins = Math.max(now, entry.pausedUntil)
  entry.pausedUntil = begins + (cost - 1) * PAUSE_MS_PER_COST
  return begins - now
}

/** A number for a user, a string for staff: they never collide. */
const keyOf = (caller: Caller): CallerKey => (caller.kind === 'user' ? caller.id : caller.sub)

const secondsUntilEndOf = ({ windowEnds }: RateLimitEntry, now: number): number => Math.ceil((windowEnds - now) / 1000)

/** Bytes of a body that take as long to read, parse and validate as an ordinary request. */
const BODY_BYTES_PER_COST = 16 * 1024
/** Rows of a list that cost as much as an ordinary request: the default page. */
const ROWS_PER_COST = 50

/** The cost of a request, as far as it is known before its body is read. */
function costOf(request: FastifyRequest): number {
  const { config, bodyLimit } = request.routeOptions
  return (config.cost ?? 1) * listShare(request.query) + Math.floor(bodyBytes(request, bodyLimit) / BODY_BYTES_PER_COST)
}

/** A body without a Content-Length counts as the longest that the route accepts. */
function bodyBytes({ headers }: FastifyRequest, bodyLimit: number): number {
  const length = headers['content-length']
  if (length !== undefined) return Math.min(Number(length), bodyLimit)
  return headers['transfer-encoding'] === undefined ? 0 : bodyLimit
}

/** The cost of a long page, in default pages. */
function listShare(query: unknown): number {
  if (typeof query !== 'object' || query === null || !('limit' in query)) return 1
  const rows = Number(query.limit)
  return rows > ROWS_PER_COST ? Math.min(Math.ceil(rows / ROWS_PER_COST), 4) : 1
}

/** A user's id, or the name of a member of staff. */
type CallerKey = number | string

const WINDOW_MS = 60_000

/** The counters of one caller. */
interface RateLimitEntry extends Semaphore {
  /** Cost accepted since the window began. */
  taken: number
  /** Requests refused since then. */
  refused: number
  /** In milliseconds of `performance.now()`. */
  windowEnds: number
  /** No other expensive request of the caller starts before this; as `windowEnds`. */
  pausedUntil: number
}

/**
 * Callers of the last minute. An entry is evicted only when its window is over and none of its requests runs: evicted
 * earlier, it would give its caller the limit a second time. So there are at most as many as can be served in a minute.
 * Libraries count refused requests, too, or evict callers beyond a fixed number.
 */
export class RateLimitStore {
  /** In the order in which their windows end. Not an LRU cache, which would evict callers within their window. */
  readonly #entries = new Map<CallerKey, RateLimitEntry>()

  /** The caller's entry, in a window that has not ended. */
  entryFor(key: CallerKey, now: number): RateLimitEntry {
    const known = this.#entries.get(key)
    if (known !== undefined && now < known.windowEnds) return known
    this.#evictIdle(now)
    const entry = known ?? { taken: 0, refused: 0, windowEnds: 0, pausedUntil: 0, running: 0, waiting: [] }
    this.#startWindow(key, entry, now)
    return entry
  }

  get size(): number {
    return this.#entries.size
  }

  #startWindow(key: CallerKey, counted: RateLimitEntry, now: number): void {
    counted.taken = 0
    counted.refused = 0
    counted.windowEnds = now + WINDOW_MS
    this.#entries.delete(key)
    this.#entries.set(key, counted)
  }

  #evictIdle(now: number): void {
    for (const [key, counted] of this.#entries) {
      if (counted.windowEnds > now) return
      if (counted.running === 0) this.#entries.delete(key)
      // Moved to the end: otherwise each call would examine it again.
      else this.#startWindow(key, counted, now)
    }
  }
}
