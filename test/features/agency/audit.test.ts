import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { rechain, tamper, verifyDatabase } from '../../audit/verify-database.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'
import { agencyApp, cash, dataOf, gold, requests, transfers } from './agency-fixture.ts'

const question = readFileSync(new URL('../../../sql/audit/withdrawals.sql', import.meta.url), 'utf8')
const ask = (database: TestDatabase) => queryRows(database, question)

test('the query of withdrawals finds changed holds, rows and events', async (t) => {
  const { user, operator, database } = await agencyApp(t)
  t.same(await ask(database), [])
  const request = async (by: number, body: object) =>
    Number(dataOf(await user(by)('POST', `${requests}/request`, body)).id)
  const bring = (id: number, status: string) => operator('POST', `/admin/v1/withdrawals/${id}/status`, { status })
  const pending = await request(1, gold)
  const approved = await request(1, { ...cash, agent_benefit: 1 })
  const settled = await request(2, gold)
  const rejected = await request(2, cash)
  await bring(approved, 'approved')
  await bring(settled, 'approved')
  await bring(settled, 'transferred')
  await bring(rejected, 'approved')
  await bring(rejected, 'rejected')
  await user(1)('POST', `${transfers}/request`, { dollars: 5, user_id: 2 })
  t.same(await ask(database), [])
  t.same((await verifyDatabase(database)).findings, [])

  await tamper(database, `update holds set held = 1999`, `delete from withdrawals where withdrawal_id = ${rejected}`)
  t.same(await ask(database), [
    { account: 'user:1:dollars', finding: 'on hold otherwise than is pending', is: '1999', ought_to_be: '2000' },
  ])
  t.match((await verifyDatabase(database)).findings, [
    { check: 'projection', table: 'holds', id: 'user:1:dollars' },
    { check: 'projection', table: 'withdrawals', id: String(rejected) },
  ])

  // A forger who knows the chain makes a request smaller than what was debited for it.
  await tamper(
    database,
    `update shown_events set data = replace(data, '"amount":2000', '"amount":1900') where position = ${settled}`,
  )
  await rechain(database)
  t.match(await ask(database), [
    { account: 'settled:4:dollars', is: '2000', ought_to_be: '1900' },
    { account: 'user:1:dollars' },
  ])
  t.match((await verifyDatabase(database)).findings[0], {
    check: 'rules',
    message: /has another user, wallet or amount/,
  })
  t.ok(pending > 0)
})
