import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { CommitNotifier, retryDelayMs } from '../../../src/ledger/subscriptions/followers.ts'

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const AUTHENTICATED = message('R', Buffer.from([0, 0, 0, 0]))
const READY = message('Z', Buffer.from('I'))
const REFUSED = message('E', Buffer.from('SERROR\0C25006\0Mcannot execute LISTEN during recovery\0\0'))

test('no connection stays open to a server that refuses LISTEN, and retries become rarer', async (t) => {
  const open = new Set<Socket>()
  let connections = 0
  // Like a hot standby, it accepts connections and refuses LISTEN.
  const standby = createServer((socket) => {
    connections += 1
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    let started = false
    socket.on('data', (data) => {
      if (data[0] === 'X'.charCodeAt(0)) return void socket.end()
      socket.write(started ? Buffer.concat([REFUSED, READY]) : Buffer.concat([AUTHENTICATED, READY]))
      started = true
    })
  })
  await new Promise<void>((resolve) => standby.listen(0, '127.0.0.1', resolve))
  const address = standby.address()
  if (address === null || typeof address === 'string') throw new Error('no address')
  const hints = new CommitNotifier({
    url: `postgres://u:p@127.0.0.1:${address.port}/d`,
    onPosition: () => {},
    onListening: () => t.fail('it does not listen'),
  })
  const startedAt = performance.now()
  hints.start()
  while (connections < 4) await pause(10)
  // At least half of 200, 400 and 800 ms: three first waits take 600 ms at most, and a busy machine only takes longer.
  t.ok(performance.now() - startedAt > 690)
  await hints.stop()
  while (open.size > 0) await pause(10)
  await new Promise((resolve) => standby.close(resolve))
})

test('the retry delay grows to a bound, and half of it is random', async (t) => {
  t.equal(retryDelayMs(1, 0), 100)
  t.equal(retryDelayMs(1, 1), 200)
  t.equal(retryDelayMs(4, 1), 1_600)
  t.equal(retryDelayMs(1_000, 1), 10_000)
  t.equal(retryDelayMs(1_000, 0), 5_000)
})
