import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { acquire, release, type Semaphore } from './semaphore.ts'

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
