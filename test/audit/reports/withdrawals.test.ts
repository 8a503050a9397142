import { test } from 'tap'
import { reportWithdrawals, type WithdrawalsReport } from '../../../src/audit/reports/withdrawals.ts'
import { changeStatus } from '../../../src/features/agency/withdrawals/change-status.ts'
import {
  type RequestWithdrawal,
  requestWithdrawal,
} from '../../../src/features/agency/withdrawals/request-withdrawal.ts'
import { defineCountry } from '../../../src/features/users/country.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows, testOpening } from '../../harness/ledger/test-executor.ts'
import { recordStatements } from '../../harness/postgres/record-statements.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { runAudit } from '../run-audit.ts'
import { withOwnExecutors } from '../seed-ledger.ts'
import { tamper } from '../verify-database.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('the report of withdrawals shows what is open, for how long, and who approved and transferred what', async (t) => {
  const database = await testDatabase()
  const env = { DATABASE_URL: database.serviceUrl }
  const nothing =
    'pending: none\napproved and not yet transferred: none\nwho approved what: none\nwho transferred what: none\n'
  t.same(await runAudit(env, 'withdrawals'), {
    code: 0,
    out: `withdrawals\nas of position 0, before the first event\n${nothing}`,
    err: '',
  })

  const ids: number[] = []
  await withOwnExecutors(async (inner) => {
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    await runOk(genesis, testOpening)
    await runOk(defineCountry, { id: 1, name: 'Egypt' })
    const people = [1, 2].map((id) => ({ id }))
    await runOk(defineUsers, { listed: true, users: [...people, { id: 7, business_manager: true }] })
    for (const user_id of [1, 2]) {
      await runOk(credit, { user_id, currency: 'dollars', amount: 100_000, reason: 'salary' })
      await runOk(credit, { user_id, currency: 'agent_dollars', amount: 100_000, reason: 'salary' })
    }
    const request = async (
      caller_id: number,
      amount: number,
      more: Partial<RequestWithdrawal> = {},
    ): Promise<number> => {
      const cash = { type: 'cash', target_id: 7, beneficiary_id: null, country_id: 1, agent_benefit: false } as const
      const { withdrawal } = await runOk(requestWithdrawal(null), {
        ...cash,
        caller_id,
        amount,
        details: null,
        ...more,
      })
      const id = withdrawal.withdrawal_id
      ids.push(id)
      return id
    }
    const bring = (id: number, to: 'approved' | 'rejected' | 'transferred', by: number | null): Promise<unknown> => {
      const change = { withdrawal_id: id, caller_id: by, to, note: null }
      return runOk(changeStatus(null), change, by === null ? 'staff:ann' : `user:${by}`)
    }
    await request(1, 1250)
    await request(2, 5)
    const waiting = await request(1, 700, { agent_benefit: true })
    const paid = await request(2, 800)
    const taken = await request(2, 900)
    const refused = await request(1, 1000)
    await bring(paid, 'approved', 7)
    await bring(waiting, 'approved', null)
    await bring(taken, 'approved', 7)
    await bring(paid, 'transferred', 7)
    await bring(taken, 'rejected', null)
    await bring(refused, 'rejected', 7)
  })
  const [older = 0, newer = 0, waiting = 0, paid = 0, taken = 0, refused = 0] = ids
  // Requests do not age in a test.
  const age = (id: number, requested: number, changed: number): string =>
    `update withdrawals set created_at = created_at - interval '${requested} s',
       changed_at = changed_at - interval '${changed} s' where withdrawal_id = ${id}`
  await tamper(
    database,
    age(older, 3 * DAY + 4 * HOUR + 10 * MINUTE, 3 * DAY + 4 * HOUR + 10 * MINUTE),
    age(newer, 12 * MINUTE, 12 * MINUTE),
    age(waiting, 9 * DAY, 5 * HOUR + 6 * MINUTE),
  )

  const { code, out, err } = await runAudit(env, 'withdrawals', '--json')
  t.same([code, err], [0, ''])
  const report: WithdrawalsReport = JSON.parse(out)
  const cash = { type: 'cash', target_id: 7, currency: 'dollars' }
  t.match(JSON.parse(out), { asked: 'withdrawals --json', at: /^20\S+Z$/, until_now: null })
  t.match(report.pending, [
    { ...cash, id: older, user_id: 1, amount: 1250 },
    { ...cash, id: newer, user_id: 2, amount: 5 },
  ])
  t.match(report.approved, [{ ...cash, id: waiting, user_id: 1, currency: 'agent_dollars', amount: 700 }])
  t.equal(report.approved[0]?.approved_by, 'staff:ann')
  const ages = [...report.pending, ...report.approved].map(({ age_seconds }) => age_seconds)
  for (const [i, least] of [3 * DAY + 4 * HOUR + 10 * MINUTE, 12 * MINUTE, 5 * HOUR + 6 * MINUTE].entries()) {
    const is = ages[i] ?? Number.NaN
    t.ok(is >= least && is < least + HOUR, `${is} s, from ${least} on`)
  }
  const events = await queryRows(
    database,
    `select position, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from ledger
     where type = 'withdrawal-status-changed' and data::json ->> 'to' in ('approved', 'transferred') order by position`,
  )
  const approval = (i: number) => ({ position: Number(events[i]?.['position']), approved_at: events[i]?.['at'] })
  t.match(report.approvals, [
    { id: paid, user_id: 2, currency: 'dollars', amount: 800, approved_by: 'user:7', ...approval(0) },
    { id: waiting, status: 'approved', ...approval(1) },
    { id: taken, status: 'rejected', ...approval(2) },
  ])
  t.equal(report.approved[0]?.approved_at, approval(1).approved_at)
  const transferred = { position: Number(events[3]?.['position']), transferred_at: events[3]?.['at'] }
  t.same(report.transfers, [
    { id: paid, user_id: 2, target_id: 7, currency: 'dollars', amount: 800, transferred_by: 'user:7', ...transferred },
  ])
  t.equal(report.position, Number((await queryRows(database, 'select position from ledger_head'))[0]?.['position']))
  t.notOk(report.approvals.some(({ id }) => id === refused))

  const lines = (await runAudit(env, 'withdrawals')).out.split('\n').map((line) => line.trim().split(/\s{2,}/))
  t.same(lines[0], ['withdrawals'])
  t.match(lines[1]?.[0], new RegExp(`^as of position ${report.position}, 20\\S+Z$`))
  t.match(lines.slice(2), [
    ['pending:'],
    ['3 d 4 h', `request ${older}`, 'cash', 'user 1', 'to 7', '12.50 dollars'],
    [/^\d\d min$/, `request ${newer}`, 'cash', 'user 2', 'to 7', '0.05 dollars'],
    ['approved and not yet transferred:'],
    [/^5 h \d+ min$/, `request ${waiting}`, 'cash', 'user 1', 'to 7', '7.00 agent_dollars', 'approved by staff:ann'],
    ['who approved what:'],
    ['user:7', approval(0).approved_at, `request ${paid}`, 'user 2', '8.00 dollars', 'now transferred'],
    ['staff:ann', approval(1).approved_at, `request ${waiting}`, 'user 1', '7.00 agent_dollars', 'now approved'],
    ['user:7', approval(2).approved_at, `request ${taken}`, 'user 2', '9.00 dollars', 'now rejected'],
    ['who transferred what:'],
    ['user:7', transferred.transferred_at, `request ${paid}`, 'user 2', 'to 7', '8.00 dollars'],
    [''],
  ])
})

test('the report of withdrawals finds their changes by an index', async (t) => {
  const database = await testDatabase()
  await tamper(
    database,
    `insert into ledger_events (position, type, version, data, movements, actor, at, request_id, hash)
       select n, 'room-joined', 1, '[]', '', 'user:1', now(), '', '' from generate_series(1, 20000) n`,
    'update ledger_head set position = 20000',
    'analyze ledger_events',
  )
  const db = readDb(t, database)
  const statements = recordStatements(t)
  t.match(await reportWithdrawals(db, new AbortController()), { position: 20_000, approvals: [] })
  const reads = statements.filter((text) => text.includes('from ledger e'))
  t.equal(reads.length, 1)
  const text = reads[0]?.replace('$1', '0').replaceAll(/\$[23]/g, '20000')
  const plan = JSON.stringify(await queryRows(database, `explain ${text}`))
  // The partition's own index has a name that PostgreSQL gave it.
  t.match(plan, /Index Scan using ledger_events_from_0_position_idx/)
  t.notMatch(plan, /Seq Scan on ledger_events|ledger_events_from_0_pkey/)
})
