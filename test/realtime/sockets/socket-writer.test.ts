import { setImmediate as turn } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { SocketWriter } from '../../../src/realtime/sockets/socket-writer.ts'
import { until } from '../../harness/until.ts'
import { tcpPair } from './tcp-pair.ts'

const MIB = 1024 * 1024
const BLOCK = Buffer.alloc(64 * 1024)

/** A writer whose client reads nothing yet, and how often it was found too slow. */
async function writing(t: Test) {
  const pair = await tcpPair(t)
  let slow = 0
  const writer = new SocketWriter(pair.socket, () => (slow += 1))
  /** Pushes blocks until more than this waits in the process; returns how often the client was too slow. */
  const fill = async (bytes: number, push = (frames: Buffer) => writer.push(frames)): Promise<number> => {
    slow = 0
    while (writer.unsentBytes <= bytes) push(BLOCK)
    t.equal(slow, 0, 'the one who pushes goes first')
    await turn()
    return slow
  }
  return { ...pair, writer, fill }
}

test('a client is too slow when more than a megabyte waits for it in the process', async (t) => {
  const { writer, client, fill } = await writing(t)
  t.equal(await fill(MIB - BLOCK.length), 0)
  t.ok((await fill(MIB)) > 0)
  client.resume()
  await until(() => writer.unsentBytes === 0)
  t.equal(await fill(0), 0)
})

test('a backlog may be unsent beyond the usual limit until the client has read everything', async (t) => {
  const { writer, client, fill } = await writing(t)
  const pushBacklog = (frames: Buffer) => writer.pushBacklog(frames)
  t.equal(await fill(8 * MIB, pushBacklog), 0)
  t.equal(await fill(9 * MIB - BLOCK.length), 0)
  t.ok((await fill(9 * MIB, pushBacklog)) > 0, 'at most eight megabytes more')
  client.resume()
  await until(() => writer.unsentBytes === 0)
  client.pause()
  t.ok((await fill(MIB)) > 0)
})

test('nothing is written after the end', async (t) => {
  const { writer, socket } = await writing(t)
  writer.push(BLOCK)
  writer.end()
  writer.push(BLOCK)
  t.equal(socket.bytesWritten, BLOCK.length)
})

test('a backlog waits while much is unsent, until the client has read it or is gone', async (t) => {
  const { writer, socket, client, fill } = await writing(t)
  await writer.drained()
  await fill(MIB / 2)
  let isDrained = false
  const all = [writer.drained(), writer.drained()].map((waiting) => waiting.then(() => (isDrained = true)))
  await turn()
  t.notOk(isDrained)
  t.equal(socket.listenerCount('drain'), 1)
  client.resume()
  await Promise.all(all)
  t.equal(writer.unsentBytes, 0)
  t.equal(socket.listenerCount('drain'), 0)
  client.pause()
  await fill(MIB / 2)
  const waiting = writer.drained()
  socket.destroy()
  await waiting
  await writer.drained()
})
