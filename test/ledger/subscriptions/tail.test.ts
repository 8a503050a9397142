import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { type Test, test } from 'tap'
import { connect } from '../../../src/db/connect.ts'
import { channelName } from '../../../src/db/ledger-url.ts'
import { openPool } from '../../../src/db/pool.ts'
import { defineDecoration } from '../../../src/features/gifts/define-decoration.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import { eventsAfter } from '../../../src/ledger/storage/stored-event.ts'
import { Tail } from '../../../src/ledger/subscriptions/tail.ts'
import { createTestExecutor, queryRows, type TestExecutor } from '../../harness/ledger/test-executor.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { DEADLINE_MS, until } from '../../harness/until.ts'

function tailOf(
  t: Test,
  { serviceUrl }: TestDatabase,
  options: { pollMs?: number; landed?: () => Promise<void> } = {},
) {
  const pool = openPool(serviceUrl, { max: 4, application_name: 'test' })
  const failureLog: unknown[] = []
  const warnings: unknown[] = []
  const tail = new Tail({
    url: serviceUrl,
    pool,
    failureLog: { failed: (error) => failureLog.push(error), succeeded: () => {} },
    log: { warn: (details, message) => warnings.push({ ...details, message }) },
    pollMs: options.pollMs ?? 50,
    ...(options.landed !== undefined && { waitForInFlight: options.landed }),
  })
  tail.start()
  t.teardown(async () => {
    await tail.stop()
    await pool.end()
  })
  return { tail, failureLog, warnings, pool }
}

let price = 1
/** Commits events, one each. */
const make = ({ runOk }: TestExecutor, count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      runOk(defineDecoration, { decoration_id: 1, name: 'gift', kind: 'standard', price: (price += 1) }),
    ),
  )

/** Longer than a test waits for anything. */
const NEVER_MS = 10 * DEADLINE_MS

/** Waits until this many tails listen. What a session does is visible to its own role and those above it only. */
async function listening({ serviceUrl }: TestDatabase, count: number): Promise<void> {
  const client = await connect(serviceUrl, 'test')
  try {
    await until(async () => {
      const { rowCount } = await client.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'ledger tail'
         and state = 'idle' and query ilike 'listen%'`,
      )
      return rowCount === count
    })
  } finally {
    await client.end()
  }
}

/** The positions of all that a subscriber gets after `after`. */
function positionsOf(tail: Tail, after: number): readonly number[] {
  const positions: number[] = []
  tail.subscribe(after, (events) => void positions.push(...events.map(({ position }) => position)))
  return positions
}

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('every subscriber gets every event once and in order, whichever instance committed it', async (t) => {
  const database = await testDatabase()
  const writers = [createTestExecutor(t, database.serviceUrl), createTestExecutor(t, database.serviceUrl)]
  const { tail, failureLog } = tailOf(t, database)
  const slow: number[] = []
  const early = positionsOf(tail, 0)
  tail.subscribe(0, async (events) => {
    await pause(20)
    slow.push(...events.map(({ position }) => position))
  })
  await Promise.all(writers.map((writer) => make(writer, 200)))
  const late = positionsOf(tail, 300)
  await Promise.all(writers.map((writer) => make(writer, 200)))
  await until(() => early.length === 800 && late.length === 500 && slow.length === 800)
  t.same(early, upTo(1, 800))
  t.same(late, upTo(301, 800))
  t.same(slow, upTo(1, 800))
  t.same(failureLog, [])
  t.equal(tail.position, 800)
})

test('a notification brings events at once, polling brings them without one', async (t) => {
  const database = await testDatabase()
  const writer = createTestExecutor(t, database.serviceUrl)
  const writing = tailOf(t, database, { pollMs: NEVER_MS })
  const hinted = tailOf(t, database, { pollMs: NEVER_MS })
  const arrivals = positionsOf(hinted.tail, 0)
  await listening(database, 2)
  await make(writer, 1)
  writing.tail.publish(await eventsAfter(writing.pool, 0, 1))
  await until(() => arrivals.length > 0)
  t.same(arrivals, [1], 'without a poll')

  // Events written without a notification, as by a restored backup, are found by polling.
  const { tail } = tailOf(t, database)
  const polled = positionsOf(tail, 1)
  await queryRows(
    database,
    `insert into ledger_events select 2, at, version, type, actor, request_id, null, movements, data, null, hash
     from ledger_events where position = 1`,
  )
  await until(() => polled.length > 0)
  t.same(polled, [2])
})

test('not every commit is notified, but the last one is', async (t) => {
  const database = await testDatabase()
  await make(createTestExecutor(t, database.serviceUrl), 50)
  const { tail, pool } = tailOf(t, database)
  const listener = await openClient(t, database.serviceUrl)
  const hints: (string | undefined)[] = []
  listener.on('notification', ({ payload }) => hints.push(payload))
  const channel = channelName(database.serviceUrl, 'ledger')
  await listener.query(`listen ${channel}`)
  await listening(database, 1)
  for (const event of await eventsAfter(pool, 0, 50)) tail.publish([event])
  await until(() => hints.length === 2)
  await listener.query('select pg_notify($1, $2)', [channel, 'nothing more'])
  await until(() => hints.includes('nothing more'))
  t.same(hints, ['1', '50', 'nothing more'])
})

test('the lag counts what other instances committed', async (t) => {
  const database = await testDatabase()
  const { tail } = tailOf(t, database)
  const metrics = new Metrics()
  metrics.watchLedger({ depth: 0 }, tail)
  await listening(database, 1)
  const channel = channelName(database.serviceUrl, 'ledger')
  await queryRows({ ownerUrl: database.serviceUrl }, `select pg_notify('${channel}', '16')`)
  await until(() => tail.head === 16)
  t.equal(tail.position, 0, 'nobody reads')
  t.match(await metrics.registry.metrics(), /^ledger_tail_lag 16$/m)
})

test('a subscriber that starts further on during a read does not wait for the next poll', async (t) => {
  const database = await testDatabase()
  await make(createTestExecutor(t, database.serviceUrl), 8)
  const { tail } = tailOf(t, database, { pollMs: NEVER_MS })
  // Until it listens and has polled for the first time.
  await listening(database, 1)
  await pause(300)
  const all = positionsOf(tail, 0)
  const rest = positionsOf(tail, 5)
  await until(() => all.length === 8 && rest.length === 3)
  t.same([all, rest], [upTo(1, 8), upTo(6, 8)])
})

test('events that a subscriber fails to handle are repeated, and delay no other subscriber', async (t) => {
  const database = await testDatabase()
  const writer = createTestExecutor(t, database.serviceUrl)
  const { tail, failureLog } = tailOf(t, database)
  const taken: number[] = []
  let failures = 2
  tail.subscribe(0, (events) => {
    if (failures > 0) {
      failures -= 1
      throw new Error('not now')
    }
    taken.push(...events.map(({ position }) => position))
  })
  const others = positionsOf(tail, 0)
  await make(writer, 3)
  await until(() => taken.length === 3 && others.length === 3)
  t.same([taken, others], [upTo(1, 3), upTo(1, 3)])
  t.equal(failureLog.length, 2)
})

test('a durable subscriber runs on one instance at a time, and another takes over where it stopped', async (t) => {
  const database = await testDatabase()
  const writer = createTestExecutor(t, database.serviceUrl)
  const taken: [string, number][] = []
  const follower = (name: string) => (events: readonly { position: number }[]) => {
    taken.push(...events.map(({ position }): [string, number] => [name, position]))
    return true
  }
  const one = tailOf(t, database)
  one.tail.subscribeDurable('push', follower('one'))
  await make(writer, 5)
  await until(() => taken.length === 5)
  const other = tailOf(t, database)
  other.tail.subscribeDurable('push', follower('other'))
  await make(writer, 5)
  await until(() => taken.length === 10)
  await one.tail.stop()
  await make(writer, 5)
  await until(() => taken.length === 15)
  t.same(
    taken.map(([, position]) => position),
    upTo(1, 15),
  )
  t.same([...new Set(taken.slice(0, 10).map(([name]) => name))], ['one'])
  t.same([...new Set(taken.slice(10).map(([name]) => name))], ['other'])
  // It is stored after the events were handled.
  await until(async () => {
    const [cursor] = await queryRows(database, `select position from ledger_cursors where name = 'push'`)
    return cursor?.['position'] === '15'
  })
})

test('a durable subscriber whose cursor is beyond the end of the ledger continues at the end, and that is logged', async (t) => {
  const database = await testDatabase()
  const writer = createTestExecutor(t, database.serviceUrl)
  await make(writer, 3)
  await queryRows(database, `insert into ledger_cursors values ('push', 2560000), ('live', 4)`)
  const { tail, failureLog, warnings } = tailOf(t, database)
  const taken: number[] = []
  const take = (events: readonly { position: number }[]): boolean => {
    taken.push(...events.map(({ position }) => position))
    return true
  }
  tail.subscribeDurable('push', take)
  const cursors = () => queryRows(database, 'select name, position from ledger_cursors order by 1')
  await until(async () => (await cursors())[1]?.['position'] === '3')
  tail.subscribeDurable('live', take)
  await until(async () => (await cursors())[0]?.['position'] === '3')
  await make(writer, 2)
  await until(() => taken.length === 4)
  t.same(
    taken.toSorted((a, b) => a - b),
    [4, 4, 5, 5],
  )
  const message = /^cursor of a subscriber beyond the end of the ledger/
  t.match(warnings, [
    { subscriber: 'push', position: 2_560_000, head: 3, message },
    { subscriber: 'live', position: 4, head: 3, message },
  ])
  t.equal(warnings.length, 2)
  t.same(failureLog, [])
})

test('a durable subscriber continues when its session is ended during a statement, without a failure logged', async (t) => {
  const database = await testDatabase()
  const writer = createTestExecutor(t, database.serviceUrl)
  const taken: number[] = []
  const { tail, failureLog } = tailOf(t, database)
  tail.subscribeDurable('push', (events) => {
    taken.push(...events.map(({ position }) => position))
    return true
  })
  const cursors = () => queryRows(database, 'select position from ledger_cursors')
  await make(writer, 1)
  await until(async () => (await cursors())[0]?.['position'] === '1')
  const holder = await openClient(t, database.ownerUrl)
  const ender = await connect(database.serviceUrl, 'test')
  t.teardown(() => ender.end())
  await holder.query('begin; lock table ledger_cursors')
  await make(writer, 1)
  let ended: number | null = 0
  // As soon as it waits to store its position.
  while (ended === 0) {
    const { rowCount } = await ender.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'follower push'
       and datname = current_database() and wait_event_type = 'Lock'`,
    )
    ended = rowCount
  }
  await holder.query('rollback')
  await make(writer, 1)
  await until(() => taken.length === 4)
  // The second event is repeated: its position was not stored.
  t.same(taken, [1, 2, 2, 3])
  t.same(failureLog, [])
})

test('a session that is ended each time is logged as a failure', async (t) => {
  const database = await testDatabase()
  await make(createTestExecutor(t, database.serviceUrl), 1)
  const { tail, failureLog } = tailOf(t, database)
  let ends = 0
  let taken = false
  tail.subscribeDurable('push', () => {
    if (ends === 3) return (taken = true)
    ends += 1
    throw Object.assign(new DatabaseError('terminating connection', 0, 'error'), { code: '57P01' })
  })
  await until(() => taken)
  t.equal(failureLog.length, 2, 'all but the first')
})

test('events read while their reply is in flight are handled after the reply', async (t) => {
  const database = await testDatabase()
  const writer = createTestExecutor(t, database.serviceUrl)
  const answer = Promise.withResolvers<void>()
  const { tail } = tailOf(t, database, { pollMs: 5, landed: () => answer.promise })
  const order: string[] = []
  tail.subscribe(0, () => {
    order.push('event')
  })
  await make(writer, 1)
  await pause(100)
  void answer.promise.then(() => order.push('answer'))
  answer.resolve()
  await until(() => order.length === 2)
  t.same(order, ['answer', 'event'])
})
