import { once } from 'node:events'
import { WebSocketServer } from 'ws'
import { frameAt } from './event.ts'
import type { Implementation } from './ours.ts'

/** `ws` alone: serializes each frame once and sends it to every client. */
export async function ws(sockets: number): Promise<Implementation> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  server.on('connection', (client) => client.once('message', () => client.send('{"t":"subbed"}')))
  await once(server, 'listening')
  const address = server.address()
  let position = 0
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    tokens: Array.from({ length: sockets }, () => 'none'),
    publish(events) {
      for (let i = 0; i < events; i += 1) {
        const text = JSON.stringify(frameAt((position += 1)))
        for (const client of server.clients) client.send(text)
      }
    },
  }
}
