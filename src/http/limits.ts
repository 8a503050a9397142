import type { Socket } from 'node:net'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { actorOf, type Caller } from './caller.ts'
import { type CallerKey, Callers, type Counted } from './callers.ts'
import { HttpError } from './errors.ts'
import { leave, lineUp } from './lines.ts'
import { overloaded } from './problem.ts'

/**
 * Requests of one caller that are worked on at a time, so that nobody waits for theirs but they; and how many may wait,
 * more than the usual limit lets through in a minute.
 */
const MOST = { inHand: 4, waiting: 2_000 }
/** A refusal is held back for so long at most. */
const LONGEST_HOLD_MS = 5_000

/**
 * The check, placed after the token's, that a caller sends at most so many requests a minute to this instance. What is
 * allowed stands in a line of the caller's own. What is refused costs little and comes later and later: whoever asks
 * again at once is not answered at once.
 */
export function limitCheck(app: FastifyInstance, perMinute: number): onRequestHookHandler {
  const callers = new Callers()
  /** Connections on which a refusal is held back, with what lets it go. */
  const held = new Map<Socket, () => void>()
  let closing = false
  // Who is refused is not what a stop waits for.
  app.addHook('preClose', (done) => {
    closing = true
    for (const release of held.values()) release()
    done()
  })
  return (request, reply, done) => {
    const now = performance.now()
    const counted = callers.count(keyOf(request.caller), now)
    const tooMany = counted.sent - perMinute
    if (tooMany > 0) {
      if (tooMany === 1) request.log.info({ caller: actorOf(request.caller) }, 'a caller is over the limit')
      const refusal = rateLimited(counted, now)
      const { socket } = request.raw
      // On one connection the answers behind it wait for it anyway, and when they are many Node reads no further.
      if (closing || held.has(socket)) return done(refusal)
      const release = (): void => {
        clearTimeout(timer)
        held.delete(socket)
        done(refusal)
      }
      const timer = setTimeout(release, Math.min(tooMany, LONGEST_HOLD_MS))
      held.set(socket, release)
      return
    }
    // What becomes a socket has no answer that ends.
    if (Reflect.get(request.raw, 'upgrade') === true) return done()
    const { raw } = reply
    const begin = (): boolean => {
      if (raw.destroyed) return false
      raw.once('close', () => leave(counted))
      done()
      return true
    }
    if (!lineUp(counted, MOST, begin)) done(overloaded())
  }
}

/** A number for a user and a text for staff: no one is taken for another. */
const keyOf = (caller: Caller): CallerKey => (caller.kind === 'user' ? caller.id : caller.sub)

function rateLimited({ windowEnds }: Counted, now: number): HttpError {
  const headers = { 'retry-after': String(Math.ceil((windowEnds - now) / 1000)) }
  return new HttpError(429, 'rate_limited', 'Too many requests; try again later.', { headers })
}
