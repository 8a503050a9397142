import { test } from 'tap'
import { defineRoom } from '../../../src/features/rooms/define-room.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import { Unavailable } from '../../../src/ledger/executor/failures.ts'
import { createTestExecutor, isReplyTo, queryRows, type TestExecutor } from '../../harness/ledger/test-executor.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'
import { giftLedger, rose, send } from './gift-ledger.ts'

// While one batch is in flight, the next one is decided on its effects. Batches of 10 out of many commands at once are
// always in flight in pairs.

const many = <T>(count: number, work: (i: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => work(i)))

const statusOf = (result: PromiseSettledResult<{ reply: { status: number } }>): number | 'rejected' =>
  result.status === 'fulfilled' ? result.value.reply.status : 'rejected'

const diamondsOf = async (database: TestDatabase): Promise<string | null | undefined> =>
  (await queryRows(database, `select balance from balances where account = 'user:1:diamonds'`))[0]?.['balance']

test('a batch is committed only if the one before it is', async (t) => {
  const { database, one: ledger } = await giftLedger(t, 400, { maxBatchCommands: 10 })
  for (let round = 0; round < 10; round += 1) {
    // PostgreSQL rejects NUL, which this command's actor has, after it has taken most of the statement.
    const spent = { ...own, amount: round % 2 === 0 ? 390 : 380 }
    const results = await many(40, (i) =>
      i === 1 ? ledger.run(debit, spent, { actor: 'staff:\0' }) : ledger.run(send, rose()),
    )
    t.same(
      results.map(statusOf),
      results.map((_, i) => (i === 1 ? 'rejected' : 200)),
    )
    t.equal(await diamondsOf(database), '10')
    t.equal(ledger.bugs.length, round + 1)
    for (const amount of [1, 1, 388])
      await ledger.runOk(credit, { user_id: 1, currency: 'diamonds', amount, reason: '' })
  }
})

const own = { holder: 'user', id: 1, currency: 'diamonds', reason: '' } as const

test('two unknown outcomes at a time are both resolved by asking the database', async (t) => {
  const { database } = await giftLedger(t, 100_000)
  const dbProxy = await proxy(t, database.serviceUrl)
  const ledger = createTestExecutor(t, dbProxy.url, { maxBatchCommands: 10 })
  let happened = 0
  for (let round = 0; round < 20; round += 1) {
    // No other instance has written since: what follows is decided in optimistic mode.
    for (let i = 0; i < 3; i += 1) {
      await ledger.runOk(send, rose(), 'user:1')
      happened += 1
    }
    dbProxy.cutAtCommit(round % 2 === 0 ? 'answer' : 'request')
    const results = await many(40, () => ledger.run(send, rose()))
    happened += results.filter((result) => statusOf(result) === 200).length
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    t.ok(reasons.every((reason) => reason instanceof Unavailable))
  }
  t.equal(dbProxy.cuts, 20)
  t.equal(await diamondsOf(database), String(100_000 - 10 * happened))
})

test('a COMMIT outside a transaction proves nothing', async (t) => {
  const { database, one: direct } = await giftLedger(t, 1_000)
  const dbProxy = await proxy(t, database.serviceUrl)
  const ledger = createTestExecutor(t, dbProxy.url)
  for (const [moved, status] of [
    [false, 200],
    [true, 'rejected'],
  ]) {
    for (let i = 0; i < 3; i += 1) await ledger.runOk(send, rose())
    if (moved === true) await direct.runOk(send, rose())
    // The statements after it then run outside a transaction, if they can.
    dbProxy.garble('begin isolation')
    t.same((await many(1, () => ledger.run(send, rose()))).map(statusOf), [status])
  }
  t.equal(await diamondsOf(database), '920')
})

test('a key that is sent again while its first request is in flight gets the same reply', async (t) => {
  const { database, one: ledger } = await giftLedger(t, 100_000, { maxBatchCommands: 10 })
  const other = createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 10 })
  const keyed = (by: TestExecutor) => (i: number) => by.run(send, rose(), { actor: 'user:1', key: `key ${i % 10}` })
  const first = await many(120, keyed(ledger))
  t.ok(first.every((result) => statusOf(result) === 200))
  t.equal(await diamondsOf(database), String(100_000 - 100))
  t.equal(first.filter((result) => result.status === 'fulfilled' && !result.value.isRepeat).length, 10)

  // A stored refusal moves no position; the other instance must see it all the same.
  const refused = (by: TestExecutor) => by.run(send, rose(99), { actor: 'user:1', key: 'refused' })
  await many(20, () => ledger.run(send, rose()))
  await refused(other)
  const again = await Promise.all([...Array.from({ length: 20 }, () => ledger.run(send, rose())), refused(ledger)])
  t.match(again.at(-1), { isRepeat: true, reply: { status: 422 } })
  t.same([...ledger.bugs, ...ledger.failures, ...other.bugs, ...other.failures], [])
})

test('a key that was used before this instance started is detected, though it is not looked up', async (t) => {
  const { database, one: before } = await giftLedger(t, 100_000)
  const keyed = (by: TestExecutor, key: string, room = 1) => by.run(send, rose(room), { actor: 'user:1', key })
  const sent = await keyed(before, 'sent')
  const refused = await keyed(before, 'refused', 99)
  t.equal(refused.reply.status, 422)

  const ledger = createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 10 })
  // No other instance writes any more: what follows is decided in optimistic mode.
  for (let i = 0; i < 3; i += 1) await keyed(ledger, `new ${i}`)
  t.match(await keyed(ledger, 'sent'), { isRepeat: true, reply: sent.reply })
  for (let i = 0; i < 3; i += 1) await keyed(ledger, `newer ${i}`)
  t.match(await keyed(ledger, 'refused', 99), { isRepeat: true, reply: refused.reply })
  t.match(await ledger.run(send, rose(99), { actor: 'user:1', key: 'sent' }), {
    isRepeat: false,
    reply: { body: /idempotency_key_reused/ },
  })
  t.equal(await diamondsOf(database), String(100_000 - 70))

  // Among many others, each of which happens once.
  const next = createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 10 })
  for (let i = 0; i < 3; i += 1) await keyed(next, `next ${i}`)
  const all = await many(100, (i) => keyed(next, i % 25 === 24 ? 'sent' : `among ${i}`))
  t.equal(all.filter((result) => result.status === 'fulfilled' && result.value.isRepeat).length, 4)
  t.equal(await diamondsOf(database), String(100_000 - 70 - 30 - 960))
  t.same([...ledger.bugs, ...ledger.failures, ...next.bugs, ...next.failures], [])
})

test('profile data in flight is not overtaken', async (t) => {
  const { one: ledger } = await giftLedger(t, 100_000, { maxBatchCommands: 5 })
  await many(20, () => ledger.run(send, rose()))
  const results = await many(100, (i) =>
    i % 10 === 0
      ? ledger.run(defineRoom, { id: 1, uid: `R${i + 10}` })
      : ledger.run(send, rose(`R${i - (i % 10) + 10}`)),
  )
  t.same(
    results.map(statusOf),
    results.map(() => 200),
  )
})

test('a key that was used on an earlier day is detected, whichever partition has it', async (t) => {
  const { database, one: before } = await giftLedger(t, 100_000)
  const keyed = (by: TestExecutor, key: string) => by.run(send, rose(), { actor: 'user:1', key })
  const moveBack = (key: string, days: number) =>
    queryRows(database, `update replies set at = at - interval '${days} days' where ${isReplyTo('user:1', key)}`)
  const [yesterday, earlier] = [await keyed(before, 'yesterday'), await keyed(before, 'earlier')]
  // As midnight passes.
  await queryRows(
    database,
    `do $$ begin
       execute format('create table replies_yesterday partition of replies for values from (%L) to (%L)',
         date_trunc('day', now() - interval '1 day', 'UTC'), date_trunc('day', now(), 'UTC'));
     end $$`,
  )
  await queryRows(database, 'create unique index on replies_yesterday (key)')
  await moveBack('yesterday', 1)
  await moveBack('earlier', 2)
  t.same(await queryRows(database, 'select tableoid::regclass::text as name from replies order by at'), [
    { name: 'replies_other_days' },
    { name: 'replies_yesterday' },
  ])

  for (const [key, { reply }] of [
    ['yesterday', yesterday],
    ['earlier', earlier],
  ] as const) {
    const ledger = createTestExecutor(t, database.serviceUrl)
    // No other instance writes any more: what follows is decided in optimistic mode.
    for (let i = 0; i < 3; i += 1) await keyed(ledger, `${key} ${i}`)
    const diamonds = await diamondsOf(database)
    t.match(await keyed(ledger, key), { isRepeat: true, reply })
    t.equal(await diamondsOf(database), diamonds)
    t.same([...ledger.bugs, ...ledger.failures], [])
    const other = createTestExecutor(t, database.serviceUrl)
    t.match(await keyed(other, key), { isRepeat: true, reply }, 'looked up in pessimistic mode')
  }
  t.equal(await diamondsOf(database), String(100_000 - 80))

  // A day without a partition of its own.
  await queryRows(
    database,
    `do $$ begin execute to_char(now() at time zone 'UTC', '"drop table replies_"YYYY_MM_DD'); end $$`,
  )
  const { reply } = await keyed(before, 'today')
  const ledger = createTestExecutor(t, database.serviceUrl)
  for (let i = 0; i < 3; i += 1) await keyed(ledger, `today ${i}`)
  t.match(await keyed(ledger, 'today'), { isRepeat: true, reply })
  t.equal(await diamondsOf(database), String(100_000 - 120))
})
