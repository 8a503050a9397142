import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { acquire, release, type Semaphore } from './semaphore.ts'

/** Requests of one connection that are worked on at a time; their answers go out one by one anyway. */
const CONCURRENCY = { running: 8, waiting: Number.POSITIVE_INFINITY }
/** Requests of one connection that may be on the way before it is read on. What was read by then waits. */
const MAX_OUTSTANDING = 32

interface Connection extends Semaphore {
  outstanding: number
}

/**
 * Bounds what a client can have going on one connection by not waiting for answers, whoever it is: Node reads on as long
 * as answers are taken, and would have us begin a hundred thousand requests at once.
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
    acquire(connection, CONCURRENCY, () => {
      if (raw.destroyed) return false
      started = true
      done()
      return true
    })
  })
}

/** Node resumes a connection after each request that it has read: until we read on, that has no effect. */
function stopReading(socket: Socket): void {
  socket.pause()
  socket.resume = () => socket
}

/** Where Node has a reason of its own to wait, it sees to that itself. */
function resumeReading(socket: Socket): void {
  Reflect.deleteProperty(socket, 'resume')
  socket.resume()
}
