import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { actorOf, type Caller } from '../auth/caller.ts'
import { overloaded, rateLimited } from '../errors/problem.ts'
import type { Metrics } from '../observability/metrics.ts'
import { costOf } from './cost.ts'
import { type CallerKey, type RateLimitEntry, RateLimitStore } from './rate-limit-store.ts'
import { acquire, release } from './semaphore.ts'

/**
 * Requests of one caller that are worked on at a time, so that nobody waits for theirs but they; and how many may wait,
 * more than the usual limit lets through in a minute.
 */
const CONCURRENCY = { running: 4, waiting: 2_000 }
/** After a dear request the next dear one of its caller waits for so long for each ordinary request that it costs more. */
const PAUSE_MS_PER_COST = 25
/** A refusal is held back for so long at most. */
const MAX_REFUSAL_DELAY_MS = 5_000

const allowance = Symbol('allowance')

declare module 'fastify' {
  interface FastifyRequest {
    [allowance]: RateLimitEntry | null
  }
}

/** Charges a request for work that shows only in its body: a debt that refuses the requests after it. */
export function charge(request: FastifyRequest, cost: number): void {
  const entry = request[allowance]
  if (entry !== null) entry.taken += cost
}

/** Gives requests what `charge` needs. */
export const decorateAllowance = (app: FastifyInstance): void => void app.decorateRequest(allowance, null)

/**
 * The check, placed after the token's, that a caller takes at most so much a minute from this instance: an ordinary
 * request costs 1, a dear one more. What is allowed stands in a line of the caller's own. What is refused costs little
 * and comes later and later: whoever asks again at once is not answered at once.
 */
export function rateLimitCheck(
  app: FastifyInstance,
  perMinute: number,
  metrics: Pick<Metrics, 'refused'>,
): onRequestHookHandler {
  const store = new RateLimitStore()
  /** Connections on which a refusal is held back, with what lets it go. */
  const held = new Map<Socket, () => void>()
  /** What begins the dear requests that wait for the pause of the one before. */
  const paused = new Set<() => void>()
  let closing = false
  // Who is refused is not what a stop waits for.
  app.addHook('preClose', (done) => {
    closing = true
    for (const release of held.values()) release()
    for (const resume of paused) resume()
    done()
  })
  return (request, reply, done) => {
    const now = performance.now()
    const { caller } = request
    const entry = store.entryFor(keyOf(caller), now)
    // Staff announce people and pay salaries by the thousand: theirs is a number of requests. Nothing costs more than
    // all that is allowed, or it could never be asked for.
    const cost = caller.kind === 'user' ? Math.min(costOf(request), perMinute) : 1
    if (entry.taken + cost > perMinute) {
      entry.refused += 1
      metrics.refused('requests')
      if (entry.refused === 1)
        request.log.info({ caller: actorOf(caller) }, 'caller is over the rate limit; requests are refused')
      const refusal = rateLimited(secondsUntilEndOf(entry, now))
      const { socket } = request.raw
      // On one connection the answers behind it wait for it anyway, and when they are many Node reads no further.
      if (closing || held.has(socket)) return done(refusal)
      const release = (): void => {
        clearTimeout(timer)
        held.delete(socket)
        done(refusal)
      }
      const timer = setTimeout(release, Math.min(entry.refused, MAX_REFUSAL_DELAY_MS))
      held.set(socket, release)
      return
    }
    entry.taken += cost
    if (caller.kind === 'user') request[allowance] = entry
    // What becomes a socket has no answer that ends.
    if (Reflect.get(request.raw, 'upgrade') === true) return done()
    const { raw } = reply
    const start = (): boolean => {
      if (raw.destroyed) return false
      raw.once('close', () => release(entry))
      done()
      return true
    }
    const enter = (): void => {
      if (!acquire(entry, CONCURRENCY, start)) done(overloaded())
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
 * How long a dear request waits, so that all that a caller is allowed does not come in one go: others would share the
 * event loop with nothing else.
 */
function pauseBefore(entry: RateLimitEntry, cost: number, now: number): number {
  const begins = Math.max(now, entry.pausedUntil)
  entry.pausedUntil = begins + (cost - 1) * PAUSE_MS_PER_COST
  return begins - now
}

/** A number for a user and a text for staff: no one is taken for another. */
const keyOf = (caller: Caller): CallerKey => (caller.kind === 'user' ? caller.id : caller.sub)

const secondsUntilEndOf = ({ windowEnds }: RateLimitEntry, now: number): number => Math.ceil((windowEnds - now) / 1000)
