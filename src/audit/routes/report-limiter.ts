import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { HttpError } from '../../http/errors/http-error.ts'
import { overloaded } from '../../http/errors/problem.ts'
import { acquire, release, type Semaphore } from '../../http/limits/semaphore.ts'
import type { QueryContext } from '../reports/query-context.ts'

/** A connection on which nothing moves is cut after 45 s. */
const MAX_SILENCE_MS = 15_000

/** Of readings that look at many events: so many go on at a time, and so many wait for so long at most. */
export interface ReportLimits {
  readonly running: number
  readonly waiting: number
  readonly maxWaitMs: number
}

/** Readings that take long. They are few at a time, and end when the client goes or the service stops. */
export class ReportLimiter {
  readonly #line: Semaphore = { running: 0, waiting: [] }
  readonly #limits: ReportLimits
  readonly #stop = new AbortController()

  constructor(app: FastifyInstance, limits: ReportLimits) {
    this.#limits = limits
    app.addHook('preClose', (done) => {
      this.#stop.abort(new HttpError(500, 'unavailable', 'The service is stopping; try again.'))
      done()
    })
  }

  /**
   * Waits for this reading's turn; its end is that of the answer. 429 when too many wait, and when its turn does not come
   * in time: nothing is sent to those who wait, and a silent connection is cut.
   */
  async acquire({ raw }: FastifyReply): Promise<QueryContext> {
    const turn = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      const place = this.#line.waiting.indexOf(begin)
      if (place !== -1) this.#line.waiting.splice(place, 1)
      turn.reject(overloaded())
    }, this.#limits.maxWaitMs)
    const begin = (): boolean => {
      clearTimeout(timer)
      if (raw.destroyed) {
        turn.reject(clientGone())
        return false
      }
      raw.once('close', () => release(this.#line))
      turn.resolve()
      return true
    }
    if (!acquire(this.#line, this.#limits, begin)) {
      clearTimeout(timer)
      turn.reject(overloaded())
    }
    await turn.promise
    const left = new AbortController()
    raw.once('close', () => left.abort(clientGone()))
    return { signal: AbortSignal.any([left.signal, this.#stop.signal]), onPlanned: () => {}, onScanned: () => {} }
  }
}

const clientGone = (): HttpError => new HttpError(400, 'gone', 'The client has gone.')

/** What is no larger than this, and made no later, is sent as a whole. */
const MAX_BUFFERED_LENGTH = 65_536
const MAX_BUFFERING_MS = 500

/**
 * Sends a text: whole when it is small and there soon, else piece by piece, as fast as it is taken; where there is no
 * next piece for a while, what `meanwhile` answers. An error before the first piece that is sent is answered as an
 * error; a later one breaks the answer off.
 */
export async function streamReply(
  reply: FastifyReply,
  type: 'application/json' | 'application/x-ndjson',
  pieces: AsyncGenerator<string, void>,
  meanwhile: () => string,
): Promise<FastifyReply> {
  const kept = withKeepAlive(pieces, meanwhile)
  const started = performance.now()
  let begun = ''
  let done = false
  while (!done && begun.length < MAX_BUFFERED_LENGTH && performance.now() - started < MAX_BUFFERING_MS) {
    const next = await kept.next()
    if (next.done) done = true
    else begun += next.value
  }
  reply.type(`${type}; charset=utf-8`)
  if (done) return reply.send(begun)
  if (reply.request.method === 'HEAD') {
    // Whoever asks for the head only is not read to; a stream would break off as soon as that is answered.
    await kept.return()
    return reply.send('')
  }
  const whole = async function* (): AsyncGenerator<string, void> {
    yield begun
    yield* kept
  }
  return reply.send(Readable.from(whole()))
}

async function* withKeepAlive(
  pieces: AsyncGenerator<string, void>,
  meanwhile: () => string,
): AsyncGenerator<string, void> {
  try {
    for (;;) {
      const next = pieces.next()
      for (;;) {
        const waiting = new AbortController()
        const late = sleep(MAX_SILENCE_MS, 'late' as const, { signal: waiting.signal }).catch(() => 'late' as const)
        const result = await Promise.race([next, late])
        waiting.abort()
        if (result === 'late') {
          yield meanwhile()
          continue
        }
        if (result.done) return
        yield result.value
        break
      }
    }
  } finally {
    await pieces.return()
  }
}
