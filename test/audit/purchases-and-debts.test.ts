import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { balances, type Movement } from '../../src/ledger/rules/account.ts'
import { keyOf } from '../../src/ledger/rules/projection.ts'
import type { Verb } from '../../src/ledger/rules/verb.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { runAudit } from './run-audit.ts'
import { seededLedger } from './seed-ledger.ts'
import { verifyDatabase } from './verify-database.ts'

const move: Verb<readonly Movement[], null> = {
  refusals: [],
  reads: (movements) => movements.flatMap(({ debit, credit }) => [keyOf(balances, debit), keyOf(balances, credit)]),
  decide: (_state, movements) => [{ type: 'balance-debited', data: { reason: 'a refund' }, movements: [...movements] }],
  result: () => null,
}

test('the books, reports and the console know accounts of purchases and debts', async (t) => {
  const [purchases, user, debt] = ['purchases:play-store:coins', 'user:1:coins', 'debt:1:coins']
  const database = await seededLedger(async (scope, { serviceUrl }) => {
    const { runOk } = createTestExecutor(scope, serviceUrl)
    await runOk(move, [{ debit: purchases, credit: user, amount: 500 }])
    await runOk(move, [{ debit: user, credit: 'house:roulette:coins', amount: 200 }])
    await runOk(move, [
      { debit: user, credit: purchases, amount: 300 },
      { debit: debt, credit: purchases, amount: 200 },
    ])
    await runOk(move, [{ debit: purchases, credit: debt, amount: 50 }])
  })
  t.same((await verifyDatabase(database)).findings, [])
  t.same(
    await queryRows(database, readFileSync(new URL('../../sql/audit/double-entry.sql', import.meta.url), 'utf8')),
    [],
  )

  const env = { DATABASE_URL: database.serviceUrl }
  const { out } = await runAudit(env, 'trial-balance', '--csv')
  t.match(out, /^coins,debt,-150,1,/m)
  t.match(out, /^coins,purchases,-50,1,/m)
  const explained = await runAudit(env, 'explain', '--user', '1', '--currency', 'coins', '--json')
  const { sources } = JSON.parse(explained.out)
  t.match(sources, [
    { counter: 'purchases:play-store', amount: 200 },
    { counter: 'house:roulette', amount: -200 },
  ])

  const { app } = await createTestApp(t, { database })
  const browser = await signedIn(app)
  const accounts = await browser.get('/console/accounts?kind=debt&q=1')
  t.match(accounts.html, `href="/console/accounts/${debt}"`)
  t.match(accounts.html, 'href="/console/users/1"')
  for (const account of [debt, purchases]) t.equal((await browser.get(`/console/accounts/${account}`)).status, 200)
  const { html } = await browser.get('/console')
  for (const kind of ['purchases', 'debt']) t.match(html, `href="/console/accounts?kind=${kind}&amp;currency=coins"`)
})
