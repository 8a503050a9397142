import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { test } from 'tap'
import { MonthLock } from '../../src/audit/closings/month-lock.ts'
import { loopTimeout } from '../../src/db/async.ts'
import { connect } from '../../src/db/connect.ts'
import { WriterLock } from '../../src/forwarding/writer-lock.ts'
import { PipelinedConnection } from '../../src/ledger/executor/pipelined-connection.ts'
import { connectFollower } from '../../src/ledger/subscriptions/followers.ts'
import { openTestPool } from '../harness/postgres/connections.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'

/** Nothing of this thread runs meanwhile. */
const holdEventLoop = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('a timeout waits for the event loop to turn, and can be cancelled', async (t) => {
  let expired = 0
  const expire = (): void => void (expired += 1)
  loopTimeout(expire, 100)
  loopTimeout(expire, 100)()
  holdEventLoop(300)
  await eventLoopTurn()
  t.equal(expired, 0, 'whatever was due has run')
  await until(() => expired === 1)
  let later = false
  loopTimeout(() => (later = true), 100)
  await until(() => later)
  t.equal(expired, 1, 'once, and not at all when it was cancelled')
})

test('a connection that is opened while the event loop is held is none that takes too long', async (t) => {
  const { serviceUrl } = await testDatabase()
  const pool = openTestPool(t, serviceUrl, 1)
  const closing: (() => Promise<void>)[] = []
  t.teardown(() => Promise.all(closing.map((close) => close())))
  const opening = {
    connect: connect(serviceUrl, 'test').then((client) => closing.push(() => client.end())),
    'pool.connect': pool.connect().then((client) => client.release()),
    'pool.query': pool.query('select 1'),
    follower: connectFollower(serviceUrl, 'test').then((client) => closing.push(() => client.end())),
    executor: PipelinedConnection.connect(serviceUrl, 'test').then((opened) => closing.push(() => opened.close())),
    election: WriterLock.connect(serviceUrl).then((lock) => closing.push(() => lock.close())),
    closing: MonthLock.forSteps(serviceUrl, '2026-10').then((lock) => closing.push(async () => lock?.close())),
  }
  const outcomes = Promise.allSettled(Object.values(opening))
  // Longer than any of them waits.
  holdEventLoop(3_100)
  const names = Object.keys(opening)
  const failed = (await outcomes).flatMap((outcome, i) =>
    outcome.status === 'rejected' ? [`${names[i]}: ${String(outcome.reason)}`] : [],
  )
  t.same(failed, [])
})
