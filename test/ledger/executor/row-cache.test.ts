import assert from 'node:assert/strict'
import { array, boolean, constant, constantFrom, nat, oneof, property, record, assert as verify } from 'fast-check'
import { test } from 'tap'
import { tables } from '../../../src/domain.ts'
import { chooseSeed, showChains } from '../../../src/features/fairness/lucky-chains.ts'
import { games } from '../../../src/features/roulette/game.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import type { Command } from '../../../src/ledger/executor/command.ts'
import { RecentKeyFilter } from '../../../src/ledger/executor/recent-key-filter.ts'
import { RowCache } from '../../../src/ledger/executor/row-cache.ts'
import { type BatchContext, Store } from '../../../src/ledger/executor/store.ts'
import { balances } from '../../../src/ledger/rules/account.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { type Key, keyOf, type Projection } from '../../../src/ledger/rules/projection.ts'
import { createTestExecutor, testChains, testOpening } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { runs } from '../../harness/properties.ts'

const coins = (amount: number) =>
  ({ holder: 'user', id: 1, user_id: 1, currency: 'coins', amount, reason: 'test' }) as const

test('a command that writes nothing is not answered from rows that another instance has changed', async (t) => {
  const database = await testDatabase()
  const one = createTestExecutor(t, database.serviceUrl)
  const other = createTestExecutor(t, database.serviceUrl)
  const look = () => one.runOk(showChains(testChains), { user_id: 1 })
  await one.runOk(genesis, testOpening)
  await one.runOk(defineUsers, { listed: true, users: [{ id: 1 }] })
  for (let i = 0; i < 3; i += 1) await look()
  t.match((await one.run(debit, coins(5))).reply.body, /insufficient_balance/)

  const chosen = await other.runOk(chooseSeed(testChains), { user_id: 1, client_seed: 'mine' })
  t.same(await look(), chosen)
  for (let i = 0; i < 3; i += 1) await look()
  await other.runOk(credit, coins(5))
  t.equal((await one.run(debit, coins(5))).reply.status, 200)
})

const asking = (reads: readonly Key[]): Command => ({
  call: null,
  cause: { actor: 'system', requestId: 'r', idempotency: null },
  reads,
  dependentReads: () => [],
  decide: () => [],
  sideWrites: () => {},
  reply: () => ({ status: 200, body: '' }),
  refusalReply: () => ({ status: 422, body: '' }),
})

test('used rows stay cached; unused ones are dropped when many others are used, heavy ones sooner', async (t) => {
  const { serviceUrl } = await testDatabase()
  const store = await Store.connect(serviceUrl, tables, new RecentKeyFilter())
  t.teardown(() => store.close())
  const hot = keyOf(balances, 'user:0:coins')
  const cold = keyOf(balances, 'user:1:coins')
  const balance = (i: number): Key => keyOf(balances, `user:${i}:diamonds`)
  const game = (i: number): Key => keyOf(games, i)
  const look = async (reads: readonly Key[], see: (opened: BatchContext) => void = () => {}) => {
    const opened = await store.open([asking(reads)])
    see(opened)
    await store.finishReadOnly(opened)
  }
  const knows = async ({ projection, id }: Key): Promise<boolean> => {
    const known: boolean[] = []
    await look([], ({ rows }) => known.push(rows.isLoaded(projection, id)))
    return known.every(Boolean)
  }
  const from = (first: number, count: number, key: (i: number) => Key) =>
    Array.from({ length: count }, (_, i) => key(first + i))

  await look([])
  t.equal(store.canPipeline, false, 'other instances may write')
  await look([hot, cold])
  t.equal(store.canPipeline, true)
  await look(from(0, 65_000, balance))
  t.equal(await knows(hot), true)
  await look(from(65_000, 65_000, balance))
  t.equal(await knows(balance(129_999)), true)
  t.equal(await knows(cold), false, 'not used while 130,000 others were')
  t.equal(await knows(hot), true, 'used in between')

  await look([hot, cold])
  await look(from(0, 3_250, game))
  t.equal(await knows(hot), true)
  await look(from(3_250, 3_251, game))
  t.equal(await knows(cold), false, 'a game is as heavy as 20 balances')
  t.equal(await knows(hot), true)
  t.equal(store.canPipeline, true, 'however many rows there were')
})

const plain: Projection<number> = { name: 'plain' }
const heavy: Projection<number> = { name: 'heavy' }
const unkept: Projection<number> = { name: 'unkept' }
const kept = [
  { projection: plain, weight: 1 },
  { projection: heavy, weight: 3 },
]

test('a row known to be absent stays cached while it is used', async (t) => {
  const rows = new RowCache()
  rows.put(plain, 'hot', undefined)
  for (let i = 1; i <= 100; i += 1) {
    t.equal(rows.isLoaded(plain, 'hot'), true)
    t.equal(rows.get(plain, 'hot'), undefined)
    rows.put(plain, `${i}`, i)
    rows.markClean(kept, 8)
  }
})

/** Steps on rows: those of a batch are loaded, read and set; then the batch is written, or tried again. */
const step = oneof(
  { weight: 3, arbitrary: record({ does: constant('ask' as const), of: constantFrom(plain, heavy), id: nat(11) }) },
  {
    weight: 3,
    arbitrary: record({
      does: constant('set' as const),
      of: constantFrom(plain, heavy, unkept),
      id: nat(11),
      gone: boolean(),
    }),
  },
  { weight: 1, arbitrary: record({ does: constantFrom('check' as const, 'take back' as const) }) },
  { weight: 3, arbitrary: record({ does: constant('settle' as const) }) },
)

test('cached rows are those written last, and the rows written are those that were set', async () => {
  const MOST = 24
  const nameOf = ({ name }: { name: string }, id: number): string => `${name} ${id}`
  verify(
    property(array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const rows = new RowCache()
      /** The row in the database, in the batch so far, and at the last checkpoint. */
      const written = new Map<string, number | undefined>()
      let set = new Map<string, number | undefined>()
      let checked = new Map(set)
      /** Rows that the batch has loaded before setting them: they stay loaded after a rollback. */
      const asked = new Map<string, () => number | undefined>()
      let [inBatch, mostInBatch] = [0, 0]
      let value = 0
      for (const todo of steps) {
        if (todo.does === 'ask') {
          const id = String(todo.id)
          const name = nameOf(todo.of, todo.id)
          if (!rows.isLoaded(todo.of, id)) rows.put(todo.of, id, written.get(name))
          assert.equal(rows.get(todo.of, id), set.has(name) ? set.get(name) : written.get(name), name)
          if (!set.has(name)) asked.set(name, () => rows.get(todo.of, id))
          inBatch += 3
        } else if (todo.does === 'set') {
          const row = todo.gone ? undefined : (value += 1)
          rows.set(todo.of, String(todo.id), row)
          set.set(nameOf(todo.of, todo.id), row)
          inBatch += 3
        } else if (todo.does === 'check') {
          rows.checkpoint()
          checked = new Map(set)
        } else if (todo.does === 'take back') {
          rows.rollback()
          set = new Map(checked)
          for (const [name, get] of asked) assert.equal(get(), set.has(name) ? set.get(name) : written.get(name), name)
        } else {
          const changed = [plain, heavy, unkept].flatMap((of) =>
            rows.changed(of).map(({ id, row }) => [nameOf(of, Number(id)), row] as const),
          )
          assert.deepEqual(new Map(changed), set)
          for (const [name, row] of set) written.set(name, row)
          set = new Map()
          checked = new Map()
          rows.markClean(kept, MOST)
          assert.equal(rows.isDirty, false)
          mostInBatch = Math.max(mostInBatch, inBatch)
          inBatch = 0
          asked.clear()
        }
      }
      rows.rollback()
      rows.markClean(kept, MOST)
      let weight = 0
      for (const { projection, weight: each } of kept) {
        for (let id = 0; id <= 11; id += 1) if (rows.isLoaded(projection, String(id))) weight += each
      }
      assert.ok(weight <= MOST + Math.max(mostInBatch, inBatch), `${weight} of ${MOST}, and batches of ${mostInBatch}`)
      for (let id = 0; id <= 11; id += 1) assert.equal(rows.isLoaded(unkept, String(id)), false)
    }),
    runs(300),
  )
})
