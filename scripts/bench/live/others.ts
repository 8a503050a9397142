import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { Server as SocketIo } from 'socket.io'
import { type WebSocket, WebSocketServer } from 'ws'
import { frameAt } from './event.ts'
import type { Implementation } from './implementation.ts'

/** The most obvious way: serializes and sends each client's frame by itself. */
export const plainLoop = (sockets: number): Promise<Implementation> =>
  withWs(sockets, (clients, frame) => {
    for (const client of clients) client.send(JSON.stringify(frame))
  })

/** Serializes each frame once. */
export const oneString = (sockets: number): Promise<Implementation> =>
  withWs(sockets, (clients, frame) => {
    const text = JSON.stringify(frame)
    for (const client of clients) client.send(text)
  })

type Frame = ReturnType<typeof frameAt>

async function withWs(
  sockets: number,
  send: (clients: ReadonlySet<WebSocket>, frame: Frame) => void,
): Promise<Implementation> {
  const server = createServer()
  const { clients } = new WebSocketServer({ server, perMessageDeflate: false })
  return listen(server, sockets, (frame) => send(clients, frame))
}

/** A socket.io room, over WebSockets without compression. */
export async function socketIo(sockets: number): Promise<Implementation> {
  const server = createServer()
  const io = new SocketIo(server, {
    transports: ['websocket'],
    perMessageDeflate: false,
    pingInterval: 600_000,
    pingTimeout: 600_000,
  })
  io.on('connection', (socket) => void socket.join('one-to-room:R1'))
  return listen(server, sockets, (frame) => io.to('one-to-room:R1').emit('ev', frame))
}

async function listen(server: Server, sockets: number, send: (frame: Frame) => void): Promise<Implementation> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  let position = 0
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    tokens: Array.from({ length: sockets }, () => 'none'),
    publish(events) {
      for (let i = 0; i < events; i += 1) send(frameAt((position += 1)))
    },
  }
}
