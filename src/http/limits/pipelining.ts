import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type Line, leave, lineUp } from './semaphore.ts'

/** Requests of one connection that are worked on at a time; their answers go out one by one anyway. */
const MOST = { inHand: 8, waiting: Number.POSITIVE_INFINITY }
/** Requests of one connection that may be on the way before it is read on. What was read by then waits. */
const MOST_ON_THE_WAY = 32

interface Connection extends Line {
  onTheWay: number
}

/**
 * Bounds what a client can have going on one connection by not waiting for answers, whoever it is: Node reads on as long
 * as answers are taken, and would have us begin a hundred thousand requests at once.
 */
export function boundPipelining(app: FastifyInstance): void {
  const connections = new WeakMap<Socket, Connection>()
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    let connection = connections.get(socket)
    if (connection === undefined) connections.set(socket, (connection = { onTheWay: 0, inHand: 0, waiting: [] }))
    const { raw } = reply
    let begun = false
    raw.once('close', () => {
      connection.onTheWay -= 1
      if (connection.onTheWay === MOST_ON_THE_WAY - 1) readOn(socket)
      if (begun) leave(connection)
    })
    connection.onTheWay += 1
    if (connection.onTheWay === MOST_ON_THE_WAY) stopReading(socket)
    lineUp(connection, MOST, () => {
      if (raw.destroyed) return false
      begun = true
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
function readOn(socket: Socket): void {
  Reflect.deleteProperty(socket, 'resume')
  socket.resume()
}
