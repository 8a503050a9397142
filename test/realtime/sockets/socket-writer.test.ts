import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { SendQueueMonitor } from '../../../src/realtime/sockets/send-queue-monitor.ts'
import { SocketWriter, type SocketWriterParts } from '../../../src/realtime/sockets/socket-writer.ts'
import { until } from '../../harness/until.ts'
import { type TcpPair, tcpPair } from './tcp-pair.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** What is handed to the kernel for a client that takes nothing. */
const WINDOW = 128 * KIB
const STALL_MS = 30_000

interface Writing extends TcpPair {
  readonly writer: SocketWriter
  /** How often the writer found its client too slow, and how often it asked for a report. */
  readonly counts: { slow: number; requests: number }
  /** Reports and checks; returns how often the client was too slow. */
  readonly check: (bytes: number, now?: number) => number
}

/** A writer whose test makes the reports. */
async function writing(t: Test): Promise<Writing> {
  const counts = { slow: 0, requests: 0 }
  const sendQueues: SocketWriterParts['sendQueues'] = {
    add: () => 'a key',
    remove: () => {},
    request: () => void (counts.requests += 1),
  }
  const pair = await tcpPair(t)
  const writer = new SocketWriter(pair.socket, { sendQueues, stallMs: STALL_MS }, () => void (counts.slow += 1))
  const check = (bytes: number, now = 0): number => {
    writer.onSendQueue(bytes, now)
    writer.checkIsSlow()
    return counts.slow
  }
  return { ...pair, writer, counts, check }
}

/** All that a client has read. */
function reading(client: Socket): () => Buffer {
  const chunks: Buffer[] = []
  client.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks)
}

test('while a client takes nothing, little is written for it, and later the rest in order', async (t) => {
  const { writer, socket, client, counts } = await writing(t)
  const received = reading(client)
  const text = Buffer.from(Array.from({ length: 400 * KIB }, (_, i) => (i / 1_000) % 256))
  const push = (from: number, to: number): number => {
    counts.requests = 0
    for (let at = from * KIB; at < to * KIB; at += KIB) writer.push(text.subarray(at, at + KIB))
    return socket.bytesWritten / KIB
  }
  t.equal(push(0, 100), 100)
  t.equal(counts.requests, 0)
  writer.onSendQueue(100 * KIB, 0)
  t.equal(push(100, 200), 128)
  t.ok(counts.requests > 0, 'a report may allow more')
  t.equal(writer.waitingHere - socket.writableLength, 72 * KIB)
  counts.requests = 0
  writer.onSendQueue(WINDOW, 0)
  t.same([socket.bytesWritten, counts.requests], [WINDOW, 1], 'nothing was taken')
  writer.onSendQueue(WINDOW - 1, 0)
  t.same([socket.bytesWritten, counts.requests, writer.waitingHere - socket.writableLength], [200 * KIB, 1, 0])
  t.equal(push(200, 300), 300)
  t.ok(counts.requests > 0, 'it may have stopped to take')
  writer.onSendQueue(300 * KIB - 1, 0)
  t.equal(push(300, 400), 300)
  writer.end(true)
  writer.push(text)
  client.resume()
  await until(() => received().length >= text.length)
  t.ok(received().equals(text), 'what is held back is written before the end')
  t.equal(counts.slow, 0)
})

test('what a slow client would not read is dropped at the end', async (t) => {
  const { writer, socket } = await writing(t)
  writer.push(Buffer.alloc(100 * KIB))
  writer.onSendQueue(100 * KIB, 0)
  writer.push(Buffer.alloc(100 * KIB))
  writer.push(Buffer.alloc(1))
  t.equal(socket.bytesWritten, 100 * KIB, 'a short frame does not go before a long one')
  writer.end(false)
  t.equal(socket.bytesWritten, 100 * KIB)
  t.equal(writer.waitingHere, socket.writableLength)
})

test('a client is too slow when a megabyte is unsent, wherever it waits', async (t) => {
  const block = Buffer.alloc(64 * KIB)
  const { writer, counts, check } = await writing(t)
  for (let i = 0; i < 16; i += 1) writer.push(block)
  t.equal(check(16 * block.length), 0)
  writer.push(Buffer.alloc(1))
  writer.onSendQueue(16 * block.length, 0)
  t.equal(counts.slow, 0, 'a requested report is too soon to judge')
  t.equal(check(16 * block.length), 1, 'with what the kernel holds')

  const reader = await writing(t)
  reader.check(0)
  for (let i = 0; i < 17; i += 1) reader.writer.push(block)
  reader.writer.checkIsSlow()
  t.equal(reader.counts.slow, 0, 'what was sent since a report may have been taken')

  const held = await writing(t)
  held.writer.push(block)
  held.writer.onSendQueue(block.length, 0)
  for (let i = 0; i < 17; i += 1) held.writer.push(block)
  await turn()
  t.equal(held.counts.slow, 0, 'two blocks were written')
  held.writer.push(block)
  await turn()
  t.equal(held.counts.slow, 1)
})

test('a replay may be unsent beyond the usual limit until the client has read everything', async (t) => {
  const { writer, socket, client, counts, check } = await writing(t)
  const block = Buffer.alloc(64 * KIB)
  const replay = async (bytes: number): Promise<void> => {
    for (let sent = 0; sent < bytes; sent += block.length) writer.pushReplay(block)
    await turn()
  }
  await replay(9 * MIB)
  t.equal(counts.slow, 0)
  client.resume()
  await until(() => socket.writableLength === 0)
  t.equal(check(1.5 * MIB), 0, 'it has not been seen to have read everything')
  t.equal(check(0), 0)
  t.equal(check(0.9 * MIB), 0)
  t.equal(check(1.5 * MIB), 1)

  const long = await writing(t)
  long.writer.onSendQueue(1, 0)
  for (let sent = 0; sent < 16 * MIB; sent += block.length) long.writer.pushReplay(block)
  await turn()
  t.ok(long.counts.slow > 0, 'at most eight megabytes more')
})

test('a client that takes nothing for too long is too slow, however little waits for it', async (t) => {
  const { writer, socket, client, check } = await writing(t)
  client.resume()
  /** Checks by the second; the client takes all that does not wait. */
  const report = async (second: number, queue: number): Promise<number> => {
    await until(() => socket.writableLength === 0)
    return check(queue, second * 1_000)
  }
  t.equal(await report(0, 0), 0)
  t.equal(await report(100, 0), 0, 'nothing waits')
  writer.push(Buffer.alloc(28))
  t.equal(await report(104, 28), 0)
  t.equal(await report(133, 28), 0)
  t.equal(await report(133.9, 27), 0, 'one byte is progress')
  writer.push(Buffer.alloc(20 * KIB))
  t.equal(await report(163, 27 + 20 * KIB), 0)
  t.equal(await report(163.8, 27 + 20 * KIB), 0)
  t.equal(await report(163.9, 27 + 20 * KIB), 1, 'thirty seconds after the last progress, whatever came meanwhile')
  t.equal(await report(164, 0), 1)
  writer.push(Buffer.alloc(28))
  t.equal(await report(190, 28), 1)
  t.equal(await report(219, 28), 1)
  t.equal(await report(220, 28), 2, 'a new wait begins with the first report of it')
})

test('a client that takes nothing for seconds gets no reports of its own', async (t) => {
  const { writer, counts } = await writing(t)
  const push = (): number => {
    counts.requests = 0
    writer.push(Buffer.alloc(KIB))
    return counts.requests
  }
  for (let i = 0; i < 129; i += 1) push()
  writer.onSendQueue(129 * KIB, 0)
  writer.onSendQueue(129 * KIB, 2_999)
  t.equal(push(), 1)
  writer.onSendQueue(129 * KIB, 3_000)
  t.equal(push(), 0)
  writer.onSendQueue(129 * KIB - 1, 4_000)
  for (let i = 0; i < 129; i += 1) push()
  t.equal(push(), 1)
})

test('where the system does not list the queues, Node’s own count', async (t) => {
  const { writer, socket, client, check } = await writing(t)
  while (socket.writableLength === 0) writer.push(Buffer.alloc(64 * KIB))
  t.equal(check(0, 0), 0)
  t.equal(check(0, 29_999), 0)
  t.equal(check(0, 30_000), 1)
  client.resume()
  await until(() => socket.writableLength === 0)
  t.equal(check(0, 50_000), 1)
  t.equal(check(0, 90_000), 1)
})

test('a client that reads little by little makes progress', { skip: process.platform !== 'linux' }, async (t) => {
  const pair = await tcpPair(t)
  let now = 0
  const sendQueues = new SendQueueMonitor(
    (error) => t.fail(String(error)),
    undefined,
    () => now,
  )
  let closes = 0
  const writer = new SocketWriter(pair.socket, { sendQueues, stallMs: STALL_MS }, () => (closes += 1))
  t.teardown(() => writer.end(false))
  const size = 900 * KIB
  for (let i = 0; i < 9; i += 1) writer.push(Buffer.alloc(100 * KIB))
  let read = 0
  pair.client.on('data', (chunk) => {
    read += chunk.length
    pair.client.pause()
  })
  // Reads once in each period; its system tells ours only when it has read some of them.
  while (read < size) {
    pair.client.resume()
    const before = read
    await until(() => read > before)
    now += 1_000
    await sendQueues.check()
    t.equal(closes, 0, `${read} bytes`)
  }
})
