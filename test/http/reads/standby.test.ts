import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { test } from 'tap'
import type { Tables } from '../../../src/db/tables.ts'
import { Standby } from '../../../src/http/reads/standby.ts'

const withoutDatabase = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/** A standby of a ledger, both of which the test moves; the test polls it itself. */
async function watched(position: number) {
  const state: { now: number; head: number | Error } = { now: 1_000, head: position }
  const ledger = { position }
  const head = async (): Promise<number> => {
    if (state.head instanceof Error) throw state.head
    return state.head
  }
  const databases = { db: withoutDatabase, reports: withoutDatabase, url: '' }
  const standby = new Standby(databases, head, ledger, () => state.now)
  const isUsable = standby.isUsable
  await standby.start()
  standby.stop()
  return { state, ledger, standby, wasUsable: isUsable }
}

test('a standby is read while it answers and follows', async (t) => {
  const { state, ledger, standby, wasUsable } = await watched(5)
  t.notOk(wasUsable, 'nothing is known of it')
  t.ok(standby.isUsable)
  t.equal(standby.position, 5)

  ledger.position = 9
  state.head = 7
  t.equal(await standby.reach(7), true)
  for (let second = 0; second < 9; second += 1) {
    state.now += 1_000
    await standby.reach(7)
  }
  t.ok(standby.isUsable, '9 s behind')
  state.now += 1_000
  await standby.reach(7)
  t.notOk(standby.isUsable, '10 s behind')
  state.head = 9
  await standby.reach(9)
  t.ok(standby.isUsable, 'it has reached what it lacked')

  state.head = new Error('away')
  t.equal(await standby.reach(9), false, 'it does not answer, whatever it had')
  state.now += 2_001
  t.notOk(standby.isUsable, 'it does not answer')
  t.equal(standby.position, 9)
})

test('a standby that stays 20 s behind is not read, although it goes on', async (t) => {
  const { state, ledger, standby } = await watched(100)
  for (let second = 1; second <= 60; second += 1) {
    state.now += 1_000
    ledger.position += 1
    state.head = Math.max(100, ledger.position - 20)
    await standby.reach(state.head)
    if (second >= 11) t.notOk(standby.isUsable, `after ${second} s`)
  }
  state.head = ledger.position - 5
  await standby.reach(state.head)
  t.ok(standby.isUsable, '5 s behind')
})

test('a standby that is behind when it is first seen is read once it has what the ledger had', async (t) => {
  const { state, standby, ledger } = await watched(5)
  const late = new Standby(
    { db: withoutDatabase, reports: withoutDatabase, url: '' },
    async () => Number(state.head),
    ledger,
    () => state.now,
  )
  state.head = 4
  await late.reach(4)
  t.notOk(late.isUsable)
  state.head = 5
  await late.reach(5)
  t.ok(late.isUsable)
  t.ok(standby.isUsable)
})

test('a standby with events that are not in the ledger is not read', async (t) => {
  const { state, ledger, standby } = await watched(5)
  state.head = 6
  await standby.reach(6)
  t.ok(standby.isUsable, 'this instance may not have read them yet')
  state.now += 501
  await standby.reach(6)
  t.notOk(standby.isUsable)
  ledger.position = 6
  t.ok(standby.isUsable)
})
