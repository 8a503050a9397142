import { test } from 'tap'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import { AdvanceStatements } from '../../../src/ledger/executor/statements.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestExecutor, queryRows, testOpening } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const head = { position: 1, hash: '', at: 0 }
const coins = (amount: number) =>
  ({ holder: 'user', id: 1, user_id: 1, currency: 'coins', amount, reason: 'test' }) as const

test('a bounded number of statements is prepared; other batches send their changes as statements of their own', async (t) => {
  const changing = (i: number) => [{ name: `change ${i}`, text: 'select $1', values: ['1'] }]
  const statements = new AdvanceStatements()
  const made = Array.from({ length: 1_000 }, (_, i) => statements.advance('', '', head, changing(i)))
  t.ok(new Set(made.map(([first]) => first?.name)).size <= 102)
  t.match(made[0], [{ text: /change_0 as \(select \$6\)/, values: { length: 6 } }])
  t.match(made.at(-1), [{ values: { length: 5 } }, { name: 'change 999' }])
})

test('nothing of a batch happens when its head has moved, though its changes are statements of their own', async (t) => {
  // As if that many kinds of batches had come before.
  const moved = AdvanceStatements.prototype.advance.bind(new AdvanceStatements())
  const value: typeof moved = (id, before, to, changes) => [...moved(id, before, to, []), ...changes]
  t.intercept(AdvanceStatements.prototype, 'advance', { value })
  const database = await testDatabase()
  const one = createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 10 })
  const other = createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 10 })
  await one.runOk(genesis, testOpening)
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
