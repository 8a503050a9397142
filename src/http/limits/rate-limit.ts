import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { actorOf, type Caller } from '../auth/caller.ts'
import { overloaded, rateLimited } from '../errors/problem.ts'
import type { Metrics } from '../observability/metrics.ts'
import { costOf } from './cost.ts'
import { type CallerKey, type RateLimitEntry, RateLimitStore } from './rate-limit-store.ts'
import { acquire, release } from './semaphore.ts'

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
