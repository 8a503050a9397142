import { test } from 'tap'
import { closingSteps, nextMonth } from '../../../src/features/closings/closing.ts'
import { findingId } from '../../../src/features/closings/finding.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { auditInThisThread } from '../audit-in-this-thread.ts'
import { oldMonth as month, oldLedger } from '../old-ledger.ts'
import { runAudit } from '../run-audit.ts'
import { rebuildTables, rechain, tamper, verifyDatabase } from '../verify-database.ts'
import { CHECKPOINT_KEY, runSteps } from './run-steps.ts'

const path = `/admin/v1/ledger/closings/${month}`

/** More wrong times than a verification reports at once. */
const WRONG_TIMES = 22

/** Credits by staff:ann, every second of which is older than the one before it; the first has a blank as its reason. */
async function ledgerWithFindings() {
  const database = await oldLedger(async (own, { serviceUrl }) => {
    const ledger = createTestExecutor(own, serviceUrl)
    for (let i = 0; i <= 2 * WRONG_TIMES; i += 1) {
      const reason = i === 0 ? '\u00a0' : 'a prize'
      await ledger.runOk(credit, { user_id: 1, currency: 'coins', amount: 5, reason }, 'staff:ann')
    }
  })
  const [row] = await queryRows(database, 'select position from ledger_head')
  const head = Number(row?.['position'])
  const first = head - 2 * WRONG_TIMES
  const turned = (to: string): string =>
    `update ledger_events set at = at ${to} interval '1 hour' where position > ${first} and (position - ${first}) % 2 = 0`
  await tamper(database, turned('-'))
  await rechain(database)
  return { database, head, first }
}

test('a finding does not close the books for ever', async (t) => {
  const { database, head, first } = await ledgerWithFindings()
  const opened = await createTestApp(t, { database })
  auditInThisThread(t)
  const finance = opened.staff('fin', 'finance')
  const bea = opened.staff('bea', 'operator')
  const unexplained = findingId('exceptions', 'unexplained', String(first))
  const acknowledge = (by: typeof bea, finding: string, reason = 'seen, and explained by mail', key?: string) =>
    by('POST', `${path}/acknowledge`, { finding, reason }, key === undefined ? {} : { 'idempotency-key': key })
  const close = () => finance('POST', '/admin/v1/ledger/closings', { month })
  const findings = async (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    Object((await finance('GET', `${path}/findings`)).body).data
  const open = async (): Promise<readonly string[]> =>
    (await findings()).filter((one) => one['acknowledged'] === null).map((one) => String(one['finding']))

  t.same(await findings(), [], 'before the first step')
  const unknown = { status: 422, body: { errors: { finding: [/No step of this month/] } } }
  t.match(await acknowledge(bea, unexplained), unknown)
  const failed = (await runSteps(t, opened, closingSteps)).filter(({ state }) => state === 'failed')
  t.match(failed, [{ step: 'verify' }, { step: 'exceptions' }])
  t.match(await close(), { status: 422, body: { code: 'closing_step_failed' } })

  const answer = await acknowledge(bea, unexplained, 'seen, and explained by mail', 'one')
  t.match(answer, {
    status: 200,
    body: {
      data: {
        id: head + 1,
        finding: unexplained,
        step: 'exceptions',
        kind: 'unexplained',
        subject: String(first),
        month,
        acknowledged_by: 'staff:bea',
        reason: 'seen, and explained by mail',
      },
    },
  })
  const again = await acknowledge(bea, unexplained, 'seen, and explained by mail', 'one')
  t.match(again, { status: 200, headers: { 'idempotency-replayed': 'true' } })
  t.match(await acknowledge(bea, unexplained), { status: 422, body: { code: 'already_acknowledged' } })

  await t.test('a table that differs is rebuilt, and not acknowledged', async (t) => {
    await queryRows(database, `update balances set balance = balance + 1 where account = 'user:2:dollars'`)
    await runSteps(t, opened, ['verify'])
    const [row] = (await findings()).filter(({ kind }) => kind === 'projection')
    // The report is full of wrong times, which come first.
    t.equal(row, undefined)
    await queryRows(database, `update balances set balance = balance - 1 where account = 'user:2:dollars'`)
    await t.rejects(rebuildTables(database), { message: /The ledger is not sound. position \d+: time/ })
  })

  const firstTimes = await open()
  t.equal(firstTimes.length, 20, 'as many as a report has')
  for (const finding of firstTimes) t.equal((await acknowledge(bea, finding)).status, 200)
  t.match(await close(), { status: 422, body: { code: 'closing_step_failed' } }, 'there may be more')
  await queryRows(database, `update balances set balance = balance + 1 where account = 'user:2:dollars'`)
  await runSteps(t, opened, ['verify'])
  const rest = await findings()
  const differing = rest.find(({ kind }) => kind === 'projection')
  t.match(differing, { subject: 'balances:user:2:dollars', may_be_acknowledged: false })
  t.match(await acknowledge(bea, String(differing?.['finding'])), {
    status: 422,
    body: { code: 'finding_not_acknowledgeable' },
  })
  await queryRows(database, `update balances set balance = balance - 1 where account = 'user:2:dollars'`)
  for (const finding of (await open()).filter((one) => one !== differing?.['finding'])) {
    t.equal((await acknowledge(bea, finding)).status, 200)
  }
  t.match(await runSteps(t, opened, ['verify']), [{ state: 'done' }])
  const recorded = await close()
  t.equal(recorded.status, 201, recorded.text)
  const { acknowledged } = Object(recorded.body).data
  t.equal(acknowledged.length, WRONG_TIMES + 1)
  t.same(Object((await finance('GET', path)).body).data.acknowledged, acknowledged)
  t.match(await acknowledge(bea, unexplained), { status: 422, body: { code: 'month_closed' } })

  const { findings: left } = await verifyDatabase(database)
  t.equal(left.length, WRONG_TIMES, 'they are still what they are')
  t.ok(left.every(({ check }) => check === 'time'))
  await rebuildTables(database)
  t.same(Object((await finance('GET', path)).body).data.acknowledged, acknowledged, 'rebuilt from the ledger')

  await t.test('nobody acknowledges what he did, whatever the service was made to write', async (t) => {
    const change = (from: string, to: string): string =>
      `update shown_events set actor = '${to}', data = replace(data, '"acknowledged_by":"${from}"', '"acknowledged_by":"${to}"')
       where position = ${head + 1}`
    await tamper(database, change('staff:bea', 'staff:ann'))
    await rechain(database)
    const { findings: found } = await verifyDatabase(database)
    t.match(
      found.find(({ check, position }) => check === 'approval' && position === head + 1),
      { message: `staff:ann acknowledged a finding about event ${first}, and is a party to it` },
    )
    await tamper(database, change('staff:ann', 'staff:bea'))
    await rechain(database)
  })

  const next = nextMonth(month)
  const env = { DATABASE_URL: database.serviceUrl, CHECKPOINT_KEY, DATA_DIR: opened.closingsFolder }
  const closed = await runAudit(env, 'close-month', next)
  t.match(closed, { code: 0, out: /finding [0-9a-f]{16}, acknowledged by staff:bea: time \d+: / }, closed.err)
  const later = Object((await finance('GET', `/admin/v1/ledger/closings/${next}`)).body).data.acknowledged
  t.equal(later.length, WRONG_TIMES, 'the act without a reason is of the month before')
  t.match(later[0], { month, kind: 'time', acknowledged_by: 'staff:bea' })
})
