import { test } from 'tap'
import { tables } from '../../src/books.ts'
import { chooseSeed, showChains } from '../../src/fairness/choose-seed.ts'
import { balances } from '../../src/ledger/account.ts'
import type { Command } from '../../src/ledger/command.ts'
import type { Key } from '../../src/ledger/decider.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { keyOf } from '../../src/ledger/state.ts'
import { Store } from '../../src/ledger/store.ts'
import { defineUsers } from '../../src/people/define-user.ts'
import { games } from '../../src/roulette/game.ts'
import { credit } from '../../src/wallet/credit.ts'
import { debit } from '../../src/wallet/debit.ts'
import { bench, testChains } from '../support/ledger.ts'
import { testDatabase } from '../support/postgres.ts'

const coins = (amount: number) =>
  ({ holder: 'user', id: 1, user_id: 1, currency: 'coins', amount, reason: 'test' }) as const

test('what writes nothing is not answered from rows that another instance has changed', async (t) => {
  const database = await testDatabase(t)
  const one = bench(t, database.serviceUrl)
  const other = bench(t, database.serviceUrl)
  const look = () => one.did(showChains(testChains), { user_id: 1 })
  await one.did(openLedger, { fairness_key: testChains.keyHash })
  await one.did(defineUsers, { listed: true, users: [{ id: 1 }] })
  for (let i = 0; i < 3; i += 1) await look()
  t.match((await one.run(debit, coins(5))).reply.body, /insufficient_balance/)

  const chosen = await other.did(chooseSeed(testChains), { user_id: 1, client_seed: 'mine' })
  t.same(await look(), chosen)
  for (let i = 0; i < 3; i += 1) await look()
  await other.did(credit, coins(5))
  t.equal((await one.run(debit, coins(5))).reply.status, 200)
})

test('rows are kept up to a number, heavy ones up to a smaller one, also by those who only look', async (t) => {
  const { serviceUrl } = await testDatabase(t)
  const store = await Store.connect(serviceUrl, tables)
  t.teardown(() => store.close())
  const balance = (i: number): Key => keyOf(balances, `user:${i}:coins`)
  const game = (i: number): Key => keyOf(games, i)
  const asking = (count: number, key: (i: number) => Key): Command => ({
    cause: { actor: 'system', requestId: 'r', idempotency: null },
    reads: Array.from({ length: count }, (_, i) => key(i)),
    follow: () => [],
    decide: () => [],
    note: () => {},
    reply: () => ({ status: 200, body: '' }),
    refused: () => ({ status: 422, body: '' }),
  })
  const look = async (count: number, key = balance) => store.leave(await store.begin([asking(count, key)]))
  await look(1)
  t.equal(store.ahead, false, 'others may write')
  await look(299_999)
  t.equal(store.ahead, true)
  await look(300_001)
  t.equal(store.ahead, false, 'too many')
  await look(1)
  t.equal(store.ahead, true)
  await look(14_000, game)
  t.equal(store.ahead, true)
  await look(15_000, game)
  t.equal(store.ahead, false, 'as heavy as 300,000, beside a balance')
})
