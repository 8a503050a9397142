import { test } from 'tap'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/credit.ts'
import { debit } from '../../../src/features/wallet/debit.ts'
import { genesis } from '../../../src/ledger/storage/genesis.ts'
import { createTestExecutor, queryRows, testChains } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const coins = (amount: number) =>
  ({ holder: 'user', id: 1, user_id: 1, currency: 'coins', amount, reason: 'test' }) as const

test('nothing happens of a batch that PostgreSQL rejects, nor of those sent after it', async (t) => {
  const database = await testDatabase(t)
  const one = createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 10 })
  const other = createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 10 })
  await one.runOk(genesis, { fairness_key: testChains.keyHash })
  await one.runOk(defineUsers, { listed: true, users: [{ id: 1 }] })
  await one.runOk(credit, coins(1_000))
  const settled = await Promise.allSettled(
    Array.from({ length: 1_000 }, (_, i) =>
      // Some are rejected by PostgreSQL, so that those after them must not happen.
      (i % 3 === 0 ? one : other).run(
        debit,
        coins(2),
        i % 100 === 7 ? { actor: 'staff:\0' } : { actor: 'user:1', key: `${i % 900}` },
      ),
    ),
  )
  const failed = settled.filter(({ status }) => status === 'rejected')
  t.ok(failed.length > 0)
  t.equal(failed.length, one.bugs.length + other.bugs.length)
  const done = settled.filter((result) => result.status === 'fulfilled' && result.value.reply.status === 200)
  t.ok(done.length >= 500)
  t.same(await queryRows(database, `select balance from balances where account = 'user:1:coins'`), [{ balance: '0' }])
})
