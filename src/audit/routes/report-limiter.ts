import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { HttpError, overloaded } from '../../http/errors/http-error.ts'
import { acquire, release, type Semaphore, type SemaphoreLimits } from '../../http/limits/concurrency.ts'
import { endWhenSlow, piecesOf } from '../../http/limits/slow-client.ts'
import { httpMessages } from '../../http/messages.ts'
import type { QueryContext } from '../reports/query-context.ts'

/** Well below the 45 s after which the server closes a silent connection. */
const MAX_SILENCE_MS = 15_000

/** How many reports run at a time, how many wait for their turn, and for how long. */
export interface ReportLimits extends SemaphoreLimits {
  readonly maxWaitMs: number
  /** As that of `endWhenSlow`. */
  readonly patienceMs?: number
}

/**
 * Limits how many long reports run, one for each person. They end when the client disconnects, or is too slow to take them,
 * or when the service stops.
 */
export class ReportLimiter {
  readonly #semaphore: Semaphore = { running: 0, waiting: [] }
  readonly #ofPersons = new Map<string, Semaphore>()
  readonly #limits: ReportLimits
  readonly #stop = new AbortController()

  constructor(app: FastifyInstance, limits: ReportLimits) {
    this.#limits = limits
    app.addHook('preClose', (done) => {
      this.#stop.abort(new HttpError(500, 'unavailable', httpMessages.stopping))
      done()
    })
  }

  /**
   * Waits for the report's turn, which ends with the reply: for that of the person first, then for one of all. Throws 429
   * when too many wait or when the turn does not come in time, as a client that waits gets no bytes and its connection
   * would be closed.
   */
  async acquire(person: string, { raw }: FastifyReply): Promise<QueryContext> {
    const deadline = performance.now() + this.#limits.maxWaitMs
    const own = this.#ofPersons.get(person) ?? { running: 0, waiting: [] }
    this.#ofPersons.set(person, own)
    const leave = (): void => {
      release(own)
      if (own.running === 0) this.#ofPersons.delete(person)
    }
    await enter(own, { ...this.#limits, running: 1 }, raw, deadline)
    try {
      await enter(this.#semaphore, this.#limits, raw, deadline)
    } catch (error) {
      leave()
      throw error
    }
    const disconnected = new AbortController()
    const end = (): void => {
      release(this.#semaphore)
      leave()
      disconnected.abort(clientDisconnected())
    }
    if (raw.destroyed) {
      end()
    } else {
      raw.once('close', end)
      endWhenSlow(raw, this.#limits.patienceMs)
    }
    return {
      signal: AbortSignal.any([disconnected.signal, this.#stop.signal]),
      onPlanned: () => {},
      onScanned: () => {},
    }
  }
}

/** Takes a place, for which it may wait until a time. Throws 429, or that the client is gone. */
async function enter(
  semaphore: Semaphore,
  limits: SemaphoreLimits,
  raw: ServerResponse,
  deadline: number,
): Promise<void> {
  const turn = Promise.withResolvers<void>()
  const begin = (): boolean => {
    clearTimeout(timer)
    if (raw.destroyed) turn.reject(clientDisconnected())
    else turn.resolve()
    return !raw.destroyed
  }
  const timer = setTimeout(
    () => {
      const index = semaphore.waiting.indexOf(begin)
      if (index !== -1) semaphore.waiting.splice(index, 1)
      turn.reject(overloaded())
    },
    Math.max(0, deadline - performance.now()),
  )
  if (!acquire(semaphore, limits, begin)) {
    clearTimeout(timer)
    turn.reject(overloaded())
  }
  await turn.promise
}

const clientDisconnected = (): HttpError => new HttpError(400, 'gone', httpMessages.disconnected)

/** A reply that is complete within this length and time is sent in one piece. */
const MAX_BUFFERED_LENGTH = 65_536
const MAX_BUFFERING_MS = 500

/**
 * Sends a text: in one piece when it is short and soon complete, else as a stream, as fast as the client reads it. While
 * no chunk comes for long, it sends what `keepAlive` returns. An error before the first byte is sent becomes an error
 * reply; a later one aborts the reply.
 */
export async function streamReply(
  reply: FastifyReply,
  type: 'application/json' | 'application/x-ndjson',
  chunks: AsyncGenerator<string, void>,
  keepAlive: () => string,
): Promise<FastifyReply> {
  const chunksWithKeepAlive = withKeepAlive(chunks, keepAlive)
  const started = performance.now()
  let buffered = ''
  let done = false
  while (!done && buffered.length < MAX_BUFFERED_LENGTH && performance.now() - started < MAX_BUFFERING_MS) {
    const next = await chunksWithKeepAlive.next()
    if (next.done) done = true
    else buffered += next.value
  }
  reply.type(`${type}; charset=utf-8`)
  if (done) return reply.send(buffered)
  if (reply.request.method === 'HEAD') {
    // A stream would be aborted as soon as the headers are sent.
    await chunksWithKeepAlive.return()
    return reply.send('')
  }
  const whole = async function* (): AsyncGenerator<string, void> {
    yield buffered
    yield* chunksWithKeepAlive
  }
  return reply.send(piecesOf(whole()))
}

async function* withKeepAlive(
  chunks: AsyncGenerator<string, void>,
  keepAlive: () => string,
): AsyncGenerator<string, void> {
  try {
    for (;;) {
      const next = chunks.next()
      for (;;) {
        const waiting = new AbortController()
        const late = sleep(MAX_SILENCE_MS, 'late' as const, { signal: waiting.signal }).catch(() => 'late' as const)
        const result = await Promise.race([next, late]).finally(() => waiting.abort())
        if (result === 'late') {
          yield keepAlive()
          continue
        }
        if (result.done) return
        yield result.value
        break
      }
    }
  } finally {
    await chunks.return()
  }
}
