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

test('a standby is read while it answers and follows', async (t) => {
  let now = 1_000
  let head: number | Error = 5
  const ledger = { position: 5 }
  const answer = async (): Promise<number> => {
    if (head instanceof Error) throw head
    return head
  }
  const standby = new Standby({ db: withoutDatabase, reports: withoutDatabase, url: '' }, answer, ledger, () => now)
  t.notOk(standby.isUsable, 'nothing is known of it')
  await standby.start()
  // The test looks by itself.
  standby.stop()
  t.ok(standby.isUsable)
  t.equal(standby.position, 5)

  ledger.position = 9
  head = 7
  t.equal(await standby.reach(7), true)
  for (let second = 0; second < 10; second += 1) {
    now += 1_000
    await standby.reach(7)
  }
  t.ok(standby.isUsable, '10 s behind')
  now += 1_000
  await standby.reach(7)
  t.notOk(standby.isUsable, 'more than 10 s behind')
  ledger.position = 20
  head = 9
  await standby.reach(9)
  t.ok(standby.isUsable, 'it has reached what it lacked')

  head = new Error('away')
  now += 2_001
  t.equal(await standby.reach(10), false)
  t.notOk(standby.isUsable, 'it does not answer')
  t.equal(standby.position, 9)
})
