import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import { SocketWriter } from '../../src/realtime/sockets/socket-writer.ts'
import { connectionKey } from '../../src/realtime/sockets/tcp-send-queues.ts'
import { until } from '../harness/until.ts'

const MIB = 1024 * 1024
const SLICE = Buffer.alloc(64 * 1024)

test('a replay may be unsent beyond the usual limit until the client has read everything', async (t) => {
  const server = createServer()
  const opened = new Promise<Socket>((resolve) => server.once('connection', resolve))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no address')
  const client = connect(address.port, '127.0.0.1')
  const socket = await opened
  t.teardown(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  const here = { address: socket.localAddress ?? '', port: socket.localPort ?? 0 }
  const there = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 }
  const queue = (bytes: number) => new Map([[connectionKey(here, there), bytes]])
  let closes = 0
  const writer = new SocketWriter(socket, () => (closes += 1))
  const replay = async (bytes: number): Promise<void> => {
    for (let sent = 0; sent < bytes; sent += SLICE.length) {
      writer.pushReplay(SLICE)
      await turn()
    }
  }

  client.pause()
  await replay(16 * MIB)
  t.ok(closes > 0, 'at most eight megabytes and what the kernel buffers')
  client.resume()
  await until(() => socket.writableLength === 0)
  writer.checkSendQueue(new Map())

  closes = 0
  await replay(2 * MIB)
  await until(() => socket.writableLength === 0)
  writer.checkSendQueue(queue(2.5 * MIB))
  t.equal(closes, 0, 'a replay in the send queue is allowed')
  writer.checkSendQueue(new Map())
  writer.checkSendQueue(queue(0.9 * MIB))
  t.equal(closes, 0)
  writer.checkSendQueue(queue(2.5 * MIB))
  t.equal(closes, 1, 'it had read everything')
})
