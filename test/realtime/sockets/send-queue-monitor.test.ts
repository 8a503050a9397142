import { test } from 'tap'
import { SendQueueMonitor } from '../../../src/realtime/sockets/send-queue-monitor.ts'
import { connectionKey } from '../../../src/realtime/sockets/tcp-send-queues.ts'
import { until } from '../../harness/until.ts'
import { tcpPair } from './tcp-pair.ts'

type Report = readonly [bytes: number, now: number]

/** Keeps the reports that it gets. */
class Reader {
  readonly reports: Report[] = []
  checks = 0

  onSendQueue(bytes: number, now: number): void {
    this.reports.push([bytes, now])
  }

  checkIsSlow(): void {
    this.checks += 1
  }
}

test('each socket gets its own queue', async (t) => {
  const [one, other] = [await tcpPair(t), await tcpPair(t)]
  let queues: readonly (readonly [string | undefined, number])[] = []
  const read = async (onQueue: (key: string, bytes: number) => void) => {
    for (const [key = '', bytes] of queues) onQueue(key, bytes)
    return 0
  }
  let now = 5
  const monitor = new SendQueueMonitor(
    (error) => t.fail(String(error)),
    read,
    () => now,
  )
  const [reader, neighbour] = [new Reader(), new Reader()]
  const key = monitor.add(one.socket, reader)
  monitor.add(other.socket, neighbour)
  queues = [
    [connectionKey(one.socket), 7],
    [connectionKey(one.client), 8],
    [connectionKey(other.socket), 0],
  ]
  await monitor.check()
  now = 6
  await monitor.check()
  t.same(reader.reports, [
    [7, 5],
    [7, 6],
  ])
  t.same(neighbour.reports, [
    [0, 5],
    [0, 6],
  ])
  t.same([reader.checks, neighbour.checks], [2, 2])

  const successor = new Reader()
  monitor.add(one.socket, successor)
  monitor.remove(key, reader)
  await monitor.check()
  t.same([reader.reports.length, successor.reports], [2, [[7, 6]]], 'the client has used the port again')
  monitor.remove(key, successor)
  await monitor.check()
  t.equal(successor.reports.length, 1)
})

test('requests share a read that begins later', async (t) => {
  const reads: (() => void)[] = []
  const read = () => new Promise<number>((resolve) => reads.push(() => resolve(0)))
  const { socket } = await tcpPair(t)
  const monitor = new SendQueueMonitor((error) => t.fail(String(error)), read)
  const reader = new Reader()
  monitor.add(socket, reader)
  monitor.request()
  monitor.request()
  await until(() => reads.length === 1)
  monitor.request()
  monitor.request()
  const report = monitor.check()
  t.equal(reads.length, 1, 'one read at a time')
  reads[0]?.()
  await report
  await until(() => reads.length === 2)
  const last = monitor.check()
  reads[1]?.()
  await last
  const next = monitor.check()
  t.equal(reads.length, 3)
  reads[2]?.()
  await next
  t.equal(reader.checks, 3, 'not after a requested read')
})

test('the longer a read takes, the longer is the pause after it', async (t) => {
  const { socket } = await tcpPair(t)
  let reads = 0
  const monitor = new SendQueueMonitor(
    (error) => t.fail(String(error)),
    async () => {
      reads += 1
      return 10
    },
  )
  const reader = new Reader()
  monitor.add(socket, reader)
  const startedAt = performance.now()
  await monitor.check()
  await monitor.check()
  t.equal(reads, 1)
  t.equal(reader.checks, 1, 'none by an old report')
  monitor.request()
  await until(() => reads === 2)
  t.ok(performance.now() - startedAt >= 499, 'fifty times ten milliseconds')
})

test('without queues, sockets hear of it in each check and cannot ask for more', async (t) => {
  const { socket } = await tcpPair(t)
  const answers: (number | null | Error)[] = [null, new Error('EMFILE'), 0, new Error('EMFILE'), new Error('EMFILE')]
  const errors: unknown[] = []
  let reads = 0
  const read = async () => {
    reads += 1
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer ?? null
  }
  const monitor = new SendQueueMonitor(
    (error) => errors.push(error),
    read,
    () => 1,
  )
  const reader = new Reader()
  monitor.add(socket, reader)
  const seen: (readonly [number, number, number])[] = []
  while (answers.length > 0) {
    await monitor.check()
    seen.push([reader.reports.length, reader.checks, errors.length])
  }
  t.same(seen, [
    [1, 1, 0],
    [2, 2, 0],
    [2, 3, 0],
    [3, 4, 1],
    [4, 5, 1],
  ])
  t.same(reader.reports.at(-1), [0, 1])
  monitor.request()
  const readAt = performance.now()
  await until(() => performance.now() > readAt + 100)
  t.equal(reads, 5)
})
