import { test } from 'tap'
import { evolve, tables } from '../../../src/domain.ts'
import { userProfiles } from '../../../src/features/users/user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { command } from '../../../src/ledger/executor/command.ts'
import { Executor } from '../../../src/ledger/executor/executor.ts'
import { Closed, DatabaseIsStandby, Overloaded, Unavailable } from '../../../src/ledger/executor/failures.ts'
import { balances } from '../../../src/ledger/rules/account.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { keyOf, type Projection } from '../../../src/ledger/rules/projection.ts'
import { type Refusal, refuse, type Verb } from '../../../src/ledger/rules/verb.ts'
import { createTestExecutor, queryRows, type TestExecutor } from '../../harness/ledger/test-executor.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'
import { giftLedger, openGifts, rose, send } from './gift-ledger.ts'

const roseGift = rose()

const balancesOf = async (database: { ownerUrl: string; serviceUrl: string; name: string }) =>
  Object.fromEntries(
    (await queryRows(database, 'select * from balances')).map((row) => [row['account'], row['balance']]),
  )

const statuses = (settled: readonly { reply: { status: number } }[]) =>
  Object.fromEntries(
    [...Map.groupBy(settled, ({ reply }) => reply.status)].map(([status, all]) => [status, all.length]),
  )

test('3,000 sends at once on a balance worth 300: exactly 300 succeed', async (t) => {
  const { database, one } = await giftLedger(t, 3_000)
  const other = createTestExecutor(t, database.serviceUrl)
  const settled = await Promise.all(
    Array.from({ length: 3_000 }, (_, i) => (i % 2 === 0 ? one : other).run(send, roseGift, { actor: 'user:1' })),
  )
  t.same(statuses(settled), { 200: 300, 422: 2_700 })
  t.match(await balancesOf(database), {
    'user:1:diamonds': '0',
    'house:gifts:diamonds': '3000',
    'user:2:target': '3000',
    // 3% of each send of 10 rounds down to 0.
    'room:1:target': undefined,
  })
  t.ok(Math.max(...one.batches, ...other.batches) <= 256, 'batches are bounded')
  t.same([...one.bugs, ...one.failures, ...other.bugs, ...other.failures], [])
})

test('20 concurrent copies of a request with one key on two instances have one effect and one reply', async (t) => {
  const { database, one } = await giftLedger(t, 1_000)
  const other = createTestExecutor(t, database.serviceUrl)
  const copies = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? one : other).run(send, roseGift, { actor: 'user:1', key: 'k' }),
    ),
  )
  t.equal(new Set(copies.map(({ reply }) => reply.body)).size, 1)
  t.equal(copies.filter(({ isRepeat }) => !isRepeat).length, 1)
  t.match(await balancesOf(database), { 'user:1:diamonds': '990' })

  const again = await one.run(send, { ...roseGift, quantity: 2 }, { actor: 'user:1', key: 'k' })
  t.same(again.reply, { status: 422, body: '{"refusal":"idempotency_key_reused"}' }, 'another request under the key')
  const third = await one.run(send, { ...roseGift, caller_id: 3, sender_id: 3 }, { actor: 'user:3', key: 'k' })
  t.same(third.reply.body, '{"refusal":"insufficient_balance"}', 'keys are each user’s own')
  await one.run(credit, { user_id: 3, currency: 'diamonds', amount: 10, reason: 'test' })
  const remembered = await other.run(send, { ...roseGift, caller_id: 3, sender_id: 3 }, { actor: 'user:3', key: 'k' })
  t.match(remembered, { isRepeat: true, reply: { body: '{"refusal":"insufficient_balance"}' } }, 'refusals too')
})

/** A verb with a given decision, whose events may move any accounts. */
const verb = (
  decide: () => readonly LedgerEvent[] | Refusal,
  accounts: readonly string[] = [],
  answer = () => 'done',
): Verb<null, string> => ({
  refusals: [],
  reads: () => accounts.map((name) => keyOf(balances, name)),
  decide,
  result: answer,
})

const debit = (from: string, to: string, amount: number): LedgerEvent => ({
  type: 'balance-debited',
  data: { reason: 'without a guard' },
  movements: [{ debit: from, credit: to, amount }],
})

/** The table of profiles with fewer columns than it has. */
const broken: Projection<{ user_id: number }> = { name: 'user_profiles' }

const throws = (): never => {
  throw new Error('a bug')
}

test('a refusal or a bug in a command fails that command alone', async (t) => {
  const { database, one } = await giftLedger(t, 1_000)
  const diamonds = 'user:1:diamonds'
  const house = 'house:gifts:diamonds'
  const bad = 'house:\u0000:diamonds'
  const commands: readonly (readonly [Verb<null, string>, number | 'bug'])[] = [
    [verb(() => refuse('no')), 422],
    [verb(throws), 'bug'],
    [verb(() => [], [], throws), 'bug'],
    // Not declared in `reads`.
    [verb(() => [debit('house:never:coins', 'house:asked:coins', 1)]), 'bug'],
    [verb(() => [debit(diamonds, house, 5_000)], [diamonds, house]), 'bug'],
    [verb(() => [debit(diamonds, 'house:gifts:coins', 1)], [diamonds, 'house:gifts:coins']), 'bug'],
    // PostgreSQL rejects this one and with it the whole transaction: the others run again without it.
    [verb(() => [debit(house, bad, 1)], [house, bad]), 'bug'],
    // A row that cannot be written.
    [{ ...verb(() => []), sideWrites: (state) => state.set(broken, '1', { user_id: 1 }) }, 'bug'],
    [verb(() => [debit(diamonds, house, 1)], [diamonds, house]), 200],
  ]
  const results = await Promise.allSettled([
    one.run(send, roseGift),
    ...commands.map(([command]) => one.run(command, null)),
    one.run(send, roseGift),
  ])
  t.same(
    results.map((result) => (result.status === 'fulfilled' ? result.value.reply.status : 'bug')),
    [200, ...commands.map(([, outcome]) => outcome), 200],
  )
  t.match(await balancesOf(database), { [diamonds]: '979' })
  t.equal(one.bugs.length, 7)
  t.same((await one.run(send, roseGift)).reply.status, 200, 'at once: the head is not locked')
})

test('a failed command has no effect on those that follow', async (t) => {
  const { database, one } = await giftLedger(t, 1_000)
  const set: Verb<null, string> = {
    ...verb(() => []),
    // A row that was not declared, and that is in the database.
    sideWrites: (state) => state.set(userProfiles, '2', undefined),
    result: throws,
  }
  await t.rejects(one.run(set, null))
  await one.run(send, roseGift)
  t.equal((await queryRows(database, 'select user_id from user_profiles')).length, 3)
})

test('a full queue rejects commands, is bounded and recovers', async (t) => {
  const { one } = await giftLedger(t, 100_000, { maxQueued: 50, maxBatchCommands: 10 })
  const results = await Promise.allSettled(Array.from({ length: 200 }, () => one.run(send, roseGift)))
  const refused = results.filter((result) => result.status === 'rejected')
  t.ok(refused.every(({ reason }) => reason instanceof Overloaded))
  t.equal(refused.length, 150)
  t.ok(Math.max(...one.batches) <= 10)
  t.match((await one.run(send, roseGift)).reply, { status: 200 })
  const last = one.run(send, roseGift)
  await Promise.all([one.executor.close(), one.executor.close()])
  t.match((await last).reply, { status: 200 }, 'accepted commands finish, also when it is closed repeatedly')
  await t.rejects(one.run(send, roseGift), new Closed('shutting down'))
})

test('an unknown outcome of COMMIT is resolved by asking the database', async (t) => {
  const { database } = await giftLedger(t, 100_000)
  const dbProxy = await proxy(t, database.serviceUrl)
  const one = createTestExecutor(t, dbProxy.url)
  await one.run(send, roseGift)
  let happened = 1
  for (let round = 0; round < 20; round += 1) {
    // COMMIT arrives in even rounds and its answer is lost; in odd ones COMMIT itself never arrives.
    dbProxy.cutAtCommit(round % 2 === 0 ? 'answer' : 'request')
    const results = await Promise.allSettled([one.run(send, roseGift), one.run(send, roseGift)])
    const done = results.filter((result) => result.status === 'fulfilled')
    happened += done.length
    if (round % 2 === 0) t.equal(done.length, 2, 'committed commands get their replies')
    else t.ok(results.every((result) => result.status === 'rejected' && result.reason instanceof Unavailable))
  }
  t.equal(dbProxy.cuts, 20)
  t.match(await balancesOf(database), { 'user:1:diamonds': String(100_000 - 10 * happened) })
})

/** Sends a gift as an app does, again under its key: a busy machine may be slower than a short `batchTimeoutMs`. */
async function sendUntilServed(executor: TestExecutor, key: string) {
  let sent: Awaited<ReturnType<TestExecutor['run']>> | null = null
  await until(async () => {
    sent = await executor.run(send, roseGift, { actor: 'user:1', key }).catch((error: unknown) => {
      if (error instanceof Unavailable) return null
      throw error
    })
    return sent !== null
  })
  return sent
}

test('a server that falls silent while the outcome of a COMMIT is read is not waited for', async (t) => {
  const { database } = await giftLedger(t, 1_000)
  const dbProxy = await proxy(t, database.serviceUrl)
  const one = createTestExecutor(t, dbProxy.url, { batchTimeoutMs: 500 })
  await sendUntilServed(one, 'first')
  dbProxy.cutAtCommit('answer')
  // The first statement of that read, on the new connection.
  dbProxy.silenceAt('from ledger_head for update')
  const lost = await one.run(send, roseGift, { actor: 'user:1', key: 'lost' }).catch((error: unknown) => error)
  t.ok(lost instanceof Unavailable)
  t.match(await sendUntilServed(one, 'lost'), { isRepeat: true, reply: { status: 200 } })
  t.match(await balancesOf(database), { 'user:1:diamonds': '980' })
})

test('a server that falls silent while the store is reset is not waited for', async (t) => {
  const { database, one: direct } = await giftLedger(t, 1_000)
  const dbProxy = await proxy(t, database.serviceUrl)
  const one = createTestExecutor(t, dbProxy.url, { batchTimeoutMs: 500 })
  // Its cache is valid until another instance moves the head.
  for (let i = 0; i < 3; i += 1) await sendUntilServed(one, `cached ${i}`)
  await direct.run(send, roseGift)
  dbProxy.silenceAt('rollback')
  t.match(await sendUntilServed(one, 'reset'), { reply: { status: 200 } })
  t.match(await balancesOf(database), { 'user:1:diamonds': '950' })
})

test('a column that a later version adds is ignored', async (t) => {
  const { database, one } = await giftLedger(t, 1_000)
  await one.run(send, roseGift, { actor: 'user:1', key: 'before' })
  await queryRows(database, 'alter table replies add column more text')
  for (const key of ['before', 'after']) {
    t.match(await one.run(send, roseGift, { actor: 'user:1', key }), { isRepeat: key === 'before' })
  }
})

test('an observer that throws cannot make a committed command look failed', async (t) => {
  const { database } = await giftLedger(t, 1_000)
  const observed: unknown[] = []
  const failed = (error: unknown): never => {
    observed.push(error)
    return throws()
  }
  const observer = { committed: throws, bug: throws, failed }
  const executor = new Executor({ url: database.serviceUrl, tables, evolve, observer })
  t.teardown(() => executor.close())
  const cause = { actor: 'user:1', requestId: 'r', idempotency: null }
  const presenter = {
    presentResult: () => ({ status: 200, body: '' }),
    presentRefusal: () => ({ status: 422, body: '' }),
  }
  const run = () => executor.run(command(send, roseGift, cause, presenter))
  const settled = await Promise.all([run(), run()])
  t.same(statuses(settled), { 200: 2 })
  t.match(await balancesOf(database), { 'user:1:diamonds': '980' })
  t.equal(observed.length, 1)
  t.same(statuses([await run()]), { 200: 1 }, 'and the executor continues')
})

test('a standby is asked again with each command, on a new connection, and is no stall', async (t) => {
  const { database } = await giftLedger(t, 1_000)
  let connections = 0
  const assertLedger = async (): Promise<void> => {
    connections += 1
    if (connections < 3) throw new DatabaseIsStandby('the database is a standby')
  }
  const one = createTestExecutor(t, database.serviceUrl, {}, () => {}, assertLedger)
  for (const attempt of [1, 2]) {
    await t.rejects(one.run(send, roseGift), { name: 'DatabaseIsStandby' })
    t.equal(connections, attempt)
    t.equal(one.executor.stalledMs, 0)
  }
  t.match(await one.run(send, roseGift), { reply: { status: 200 } })
})

test('without a database commands fail at once, and work again when it is back', async (t) => {
  const database = await testDatabase()
  const dbProxy = await proxy(t, database.serviceUrl)
  const one = createTestExecutor(t, dbProxy.url)
  await openGifts(one, 1_000)
  await dbProxy.down()
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => one.run(send, roseGift)))
  t.ok(results.every((result) => result.status === 'rejected' && result.reason instanceof Unavailable))
  await dbProxy.up()
  t.match((await one.run(send, roseGift)).reply, { status: 200 })
  t.match(await balancesOf(database), { 'user:1:diamonds': '990' })
})
