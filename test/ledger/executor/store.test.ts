import { randomUUID } from 'node:crypto'
import { type Test, test } from 'tap'
import { evolve, tables } from '../../../src/domain.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { type Batch, decideBatch } from '../../../src/ledger/executor/batch.ts'
import { type Command, command } from '../../../src/ledger/executor/command.ts'
import { DuplicateIdempotencyKey } from '../../../src/ledger/executor/failures.ts'
import { RecentKeyFilter } from '../../../src/ledger/executor/recent-key-filter.ts'
import { type BatchContext, Store } from '../../../src/ledger/executor/store.ts'
import { shortHash } from '../../../src/ledger/rules/hash.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestExecutor, testOpening } from '../../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'

const presenter = {
  presentResult: () => ({ status: 200, body: '{}' }),
  presentRefusal: () => ({ status: 422, body: '{}' }),
}
const one = { holder: 'user', id: 1, user_id: 1, currency: 'coins', amount: 1, reason: 'test' } as const

/** A coin for a user. */
const giving = (key: string): Command =>
  command(
    credit,
    one,
    { actor: 'staff:ann', requestId: 'r', idempotency: { key, requestHash: shortHash('h') } },
    { ...presenter },
  )

async function storeOn(t: Test, { serviceUrl }: TestDatabase): Promise<Store> {
  const store = await Store.connect(serviceUrl, tables, new RecentKeyFilter())
  t.teardown(() => store.close())
  return store
}

async function seeded(t: Test): Promise<TestDatabase> {
  const database = await testDatabase()
  const { runOk, run } = createTestExecutor(t, database.serviceUrl)
  await runOk(genesis, testOpening)
  await runOk(defineUsers, { listed: true, users: [{ id: 1 }] })
  for (let i = 0; i < 5; i += 1) await run(credit, one, { actor: 'staff:ann', key: `old ${i}` })
  return database
}

/** Decides a command in an open batch. */
const decided = (asked: Command, { rows, storedReplies: remembered, head, now }: BatchContext): Batch =>
  decideBatch([asked], rows, remembered, head, now, evolve)

/** A batch that was sent: how many stored replies it was decided with, and how it ends. */
interface Sent {
  readonly mode: BatchContext['mode']
  readonly replies: number
  readonly end: Promise<void>
}

async function send(store: Store, asked: Command): Promise<Sent> {
  const opened = await store.open([asked])
  const { mode, storedReplies: remembered } = opened
  const replies = remembered.size
  return { mode, replies, end: store.commit(randomUUID(), opened, decided(asked, opened)) }
}

test('no third batch is opened while two are in flight', async (t) => {
  const database = await seeded(t)
  const store = await storeOn(t, database)
  await (await send(store, giving('first'))).end
  await (await send(store, giving('second'))).end
  const other = await Store.connect(database.serviceUrl, tables, new RecentKeyFilter())
  t.teardown(() => other.close())
  // Holds the lock on the head.
  const held = await other.open([giving('held')])
  const flights = [await send(store, giving('third'))]
  t.equal(store.canPipeline, true)
  flights.push(await send(store, giving('fourth')))
  t.equal(store.canPipeline, false)
  await other.finishReadOnly(held)
  await Promise.all(flights.map(({ end }) => end))
  t.equal(store.canPipeline, true)
})

test('after a duplicate key all keys are looked up for some time', async (t) => {
  const store = await storeOn(t, await seeded(t))
  await (await send(store, giving('first'))).end
  await (await send(store, giving('second'))).end
  const taken = await send(store, giving('old 0'))
  t.match(taken, { mode: 'optimistic', replies: 0 })
  t.ok((await taken.end.catch((error: unknown) => error)) instanceof DuplicateIdempotencyKey)
  await store.reset()
  await (await send(store, giving('third'))).end
  await (await send(store, giving('fourth'))).end
  for (const key of ['old 1', 'old 2']) {
    const opened = await store.open([giving(key)])
    t.equal(opened.mode, 'optimistic')
    t.equal(opened.storedReplies.size, 1, 'looked up')
    await store.finishReadOnly(opened)
  }
})

test('one batch may be open at a time, and no reset is allowed while batches are in flight', async (t) => {
  const store = await storeOn(t, await seeded(t))
  const opened = await store.open([giving('first')])
  await t.rejects(store.open([giving('second')]), new Error('illegal transition from deciding to deciding'))
  await t.rejects(store.isCommitted(randomUUID()), new Error('the outcome of a batch cannot be read in state deciding'))
  const end = store.commit(randomUUID(), opened, decided(giving('first'), opened))
  await t.rejects(store.reset(), new Error('cannot reset with batches in flight: 1'))
  await end
  await store.reset()
  t.equal(await store.isCommitted(randomUUID()), false)
})
