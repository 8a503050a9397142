import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Requests that run, and those that wait for one of them to end. */
export interface Semaphore {
  running: number
  readonly waiting: (() => boolean)[]
}

/** How many requests may run, and how many may wait. */
export interface SemaphoreLimits {
  readonly running: number
  readonly waiting: number
}

/**
 * Starts a request, at once or when enough others have ended. `start` returns whether it did: it does not when the
 * client is gone. False when too many wait.
 */
export function acquire(semaphore: Semaphore, limits: SemaphoreLimits, start: () => boolean): boolean {
  if (semaphore.running < limits.running) {
    semaphore.running += 1
    if (!start()) release(semaphore)
    return true
  }
  if (semaphore.waiting.length >= limits.waiting) return false
  semaphore.waiting.push(start)
  return true
}

/** A running request has ended: the next one takes its place. */
export function release(semaphore: Semaphore): void {
  for (let start = semaphore.waiting.shift(); start !== undefined; start = semaphore.waiting.shift()) {
    if (start()) return
  }
  semaphore.running -= 1
}

/** Requests of one connection that run at a time; their responses go out in order anyway. */
const MAX_CONCURRENT = { running: 8, waiting: Number.POSITIVE_INFINITY }
/** Requests of one connection beyond which it is not read. Those already read wait. */
const MAX_OUTSTANDING = 32

interface Connection extends Semaphore {
  outstanding: number
}

/**
 * Bounds the pipelined requests of one connection: Node reads on as long as responses are taken, and would start a hundred
 * thousand requests at once.
 */
export function limitPipelining(app: FastifyInstance): void {
  const connections = new WeakMap<Socket, Connection>()
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    let connection = connections.get(socket)
    if (connection === undefined) connections.set(socket, (connection = { outstanding: 0, running: 0, waiting: [] }))
    const { raw } = reply
    let started = false
    raw.once('close', () => {
      connection.outstanding -= 1
      if (connection.outstanding === MAX_OUTSTANDING - 1) resumeReading(socket)
      if (started) release(connection)
    })
    connection.outstanding += 1
    if (connection.outstanding === MAX_OUTSTANDING) stopReading(socket)
    acquire(connection, MAX_CONCURRENT, () => {
      if (raw.destroyed) return false
      started = true
      done()
      return true
    })
  })
}

/** Node resumes a connection after each parsed request, so `resume` is disabled until `resumeReading`. */
function stopReading(socket: Socket): void {
  socket.pause()
  socket.resume = () => socket
}

/** Node pauses again by itself where it has a reason of its own. */
function resumeReading(socket: Socket): void {
  Reflect.deleteProperty(socket, 'resume')
  socket.resume()
}

let tail: Promise<void> = Promise.resolve()

/**
 * Resolves for one waiter in each turn of the event loop. Work of some milliseconds starts with it, so that other
 * requests are served in between, however many ask for such work at once.
 */
export function yieldToEventLoop(): Promise<void> {
  tail = tail.then(() => new Promise((resolve) => setImmediate(resolve)))
  return tail
}

/** Runs each part of a generator in its own turn of the event loop. */
export async function runYielding<Result>(work: Generator<undefined, Result, undefined>): Promise<Result> {
  for (;;) {
    await yieldToEventLoop()
    const { done, value } = work.next()
    if (done === true) return value
  }
}
