import { type Test, test } from 'tap'
import type { VerificationRun } from '../../../schema/finance.ts'
import { pruneKeys } from '../../../src/audit/jobs/job-rows.ts'
import { Jobs } from '../../../src/audit/jobs/jobs.ts'
import { startVerification } from '../../../src/audit/verify/verifications.ts'
import { createTestApp, readDb, type TestApp, type TestResponse } from '../../harness/app/test-app.ts'
import { isReplyTo, queryRows } from '../../harness/ledger/test-executor.ts'
import { openTestPool } from '../../harness/postgres/connections.ts'
import { until } from '../../harness/until.ts'
import { auditInThisThread } from '../audit-in-this-thread.ts'
import { holdVerifications } from '../hold-verifications.ts'
import { seededLedger } from '../seed-ledger.ts'
import { tamper } from '../verify-database.ts'

const path = '/admin/v1/ledger/verifications'
const runOf = ({ body }: TestResponse): VerificationRun => Object(body).data

async function seededApp(t: Test): Promise<TestApp> {
  auditInThisThread(t)
  return createTestApp(t, { database: await seededLedger() })
}

/** Waits until a run has ended. */
async function ended({ staff }: TestApp, id: number): Promise<VerificationRun> {
  const finance = staff('fin', 'finance')
  let run: VerificationRun | undefined
  await until(async () => {
    run = runOf(await finance('GET', `${path}/${id}`))
    return run.outcome !== 'running'
  })
  if (run === undefined) throw new Error('no run was read')
  return run
}

/** A run of an instance whose last sign of life is `seconds` ago. */
const leftRunning = ({ database }: TestApp, seconds: number) =>
  queryRows(
    database,
    `insert into jobs (kind, subject, exclusive, started_by, started_at, heartbeat_at, events_read, events_total, input)
     values ('verification', '', 'verification', 'staff:bob', now() - interval '1 hour',
             now() - interval '${seconds} seconds', 5, 20, '{"checkpoint":null}') returning job_id`,
  ).then(([row]) => Number(row?.['job_id']))

test('finance starts a verification, sees its end and finds it among the past ones', async (t) => {
  // Its verifications run in threads, as those of a service do.
  const opened = await createTestApp(t, { database: await seededLedger() })
  const { user, app } = opened
  const finance = opened.staff('fin', 'finance')
  t.same((await finance('GET', path)).body, { data: [], meta: { next_cursor: null } })
  const started = await finance('POST', path, {})
  t.equal(started.status, 201)
  t.match(runOf(started), { id: 1, started_by: 'staff:fin', checkpoint: null, stopped_by: null })
  const run = await ended(opened, 1)
  const head = Number((await queryRows(opened.database, 'select position from ledger_head'))[0]?.['position'])
  t.match(run, {
    outcome: 'clean',
    findings: [],
    up_to: head,
    progress: { events: head, of: head },
    seconds_left: null,
  })
  t.ok(run.ended_at !== null && run.ended_at > run.started_at)

  await finance('POST', path, {})
  await ended(opened, 2)
  const first = Object((await finance('GET', `${path}?limit=1`)).body)
  t.same([first.data.length, first.data[0].id], [1, 2])
  const second = Object((await finance('GET', `${path}?limit=1&cursor=${first.meta.next_cursor}`)).body)
  t.same([second.data[0].id, second.meta.next_cursor], [1, null])
  t.equal((await finance('GET', `${path}/99`)).status, 404)
  t.equal((await finance('POST', `${path}/99/stop`)).status, 404)
  t.match(runOf(await finance('POST', `${path}/1/stop`)), { outcome: 'clean', stopped_by: null }, 'it has ended')

  for (const [method, url] of [
    ['GET', path],
    ['POST', path],
    ['GET', `${path}/1`],
    ['POST', `${path}/1/stop`],
    ['POST', '/admin/v1/ledger/checkpoints'],
  ] as const) {
    t.equal((await user(1)(method, url, {})).status, 403, `${method} ${url} as a user`)
    t.equal((await app.inject({ method, url, payload: {} })).statusCode, 401, `${method} ${url} without a token`)
  }
  t.equal((await finance('POST', '/admin/v1/users/1/revoke-sessions')).status, 403, 'finance writes nothing else')
})

test('one verification at a time on all instances; it is stopped from any of them', async (t) => {
  const opened = await seededApp(t)
  const { database } = opened
  const finance = opened.staff('fin', 'finance')
  // Alive, on another instance.
  const other = await leftRunning(opened, -3_600)
  const refused = await finance('POST', path, {})
  t.match(refused, { status: 422, body: { code: 'verification_running' } })
  t.match(runOf(await finance('POST', `${path}/${other}/stop`)), { outcome: 'running', stopped_by: 'staff:fin' })
  await queryRows(database, `update jobs set state = 'stopped', ended_at = now()`)

  const gate = await holdVerifications(t, database)
  const id = runOf(await finance('POST', path, {})).id
  t.match(await finance('POST', path, {}), { status: 422, body: { code: 'verification_running' } })
  // As another instance asks for it.
  await queryRows(database, `update jobs set stopped_by = 'staff:eve' where job_id = ${id}`)
  const stopped = await ended(opened, id)
  t.match(stopped, { outcome: 'stopped', stopped_by: 'staff:eve', findings: [] })
  t.match(stopped.progress, { of: Number })

  const own = runOf(await finance('POST', path, {})).id
  t.match(runOf(await finance('POST', `${path}/${own}/stop`)), { outcome: 'stopped', stopped_by: 'staff:fin' })
  await gate()
  await finance('POST', path, {})
  t.match(await ended(opened, own + 1), { outcome: 'clean' })
})

test('the run of a crashed instance does not block the next one, and a stopped service ends its own', async (t) => {
  const opened = await seededApp(t)
  const { database } = opened
  const finance = opened.staff('fin', 'finance')
  // The clock has gone back since the last one began.
  for (const seconds of [31, -72 * 3_600]) {
    const lost = await leftRunning(opened, seconds)
    t.match(runOf(await finance('GET', `${path}/${lost}`)), { outcome: 'failed', progress: { events: 5, of: 20 } })
    const { id } = runOf(await finance('POST', path, {}))
    t.match(await ended(opened, id), { outcome: 'clean' })
    t.same(await queryRows(database, `select state from jobs where job_id = ${lost}`), [{ state: 'failed' }])
  }

  const db = readDb(t, database)
  const gate = await holdVerifications(t, database)
  const jobs = new Jobs(database.serviceUrl, { warn: () => {} })
  const chooseReportDatabase = async () => ({ db, url: database.serviceUrl })
  const parts = { jobs, chooseReportDatabase, piiKey: '' }
  const run = await startVerification(parts, { startedBy: 'staff:ann', key: null, checkpoint: null })
  t.equal(run?.outcome, 'running')
  await jobs.close()
  await gate()
  t.match(runOf(await finance('GET', `${path}/${run?.id}`)), { outcome: 'failed', stopped_by: null })
})

test('a tampered row is found, with what it points to, and so is a history that a checkpoint contradicts', async (t) => {
  const opened = await seededApp(t)
  const { database } = opened
  const finance = opened.staff('fin', 'finance')
  const made = await finance('POST', '/admin/v1/ledger/checkpoints')
  t.equal(made.status, 201)
  const { checkpoint, made_by } = Object(made.body).data
  t.equal(made_by, 'staff:fin')
  await finance('POST', path, { checkpoint })
  t.match(await ended(opened, 1), { outcome: 'clean', checkpoint })

  const forged = { ...checkpoint, position: 3 }
  t.match(await finance('POST', path, { checkpoint: forged }), {
    status: 422,
    body: { code: 'validation_failed', errors: { checkpoint: [String] } },
  })
  t.equal((await finance('POST', path, { checkpoint: { position: 3 } })).status, 422)

  await queryRows(database, `update balances set balance = balance + 1 where account = 'user:2:dollars'`)
  await finance('POST', path, {})
  t.match(await ended(opened, 2), {
    outcome: 'findings',
    findings: [{ check: 'projection', table: 'balances', id: 'user:2:dollars', message: String }],
  })
  await tamper(database, `update shown_events set data = replace(data, 'salary', 'bribe') where data like '%salary%'`)
  await finance('POST', path, { checkpoint })
  const { outcome, findings } = await ended(opened, 3)
  t.equal(outcome, 'findings')
  t.match(findings[0], { check: 'hash', position: Number })
})

test('a retry starts no second verification and makes no second checkpoint, also when both arrive at once', async (t) => {
  const opened = await seededApp(t)
  const { database } = opened
  const key = (name: string) => ({ 'idempotency-key': name })
  const finance = opened.staff('fin', 'finance')
  const counts = () =>
    queryRows(
      database,
      `select (select count(*)::int from jobs) as runs, (select count(*)::int from made_checkpoints) as checkpoints`,
    )

  const both = await Promise.all([1, 2].map(() => finance('POST', path, {}, key('start'))))
  t.same(
    both.map(({ status }) => status),
    [201, 201],
  )
  const { id } = runOf(await finance('POST', path, {}, key('start')))
  t.same(
    both.map((one) => runOf(one).id),
    [id, id],
  )
  await ended(opened, id)
  const later = await finance('POST', path, {}, key('start'))
  t.match(runOf(later), { id, outcome: 'running' }, 'the first answer, though it has ended')
  t.equal(later.headers['idempotency-replayed'], 'true')
  // Crashed after the start, before the answer was stored.
  await queryRows(database, `delete from replies where ${isReplyTo('staff:fin', 'start')}`)
  t.match(runOf(await finance('POST', path, {}, key('start'))), { id, outcome: 'clean' })
  const other = runOf(await opened.staff('eve', 'finance')('POST', path, {}, key('start')))
  t.equal(other.started_by, 'staff:eve', 'keys are those of one member of staff')
  await ended(opened, other.id)

  const checkpointPath = '/admin/v1/ledger/checkpoints'
  const made = await Promise.all([1, 2].map(() => finance('POST', checkpointPath, {}, key('sign'))))
  t.same(
    made.map(({ status }) => status),
    [201, 201],
  )
  t.same(made[0]?.body, made[1]?.body)
  await queryRows(database, `delete from replies where ${isReplyTo('staff:fin', 'sign')}`)
  t.same((await finance('POST', checkpointPath, {}, key('sign'))).body, made[0]?.body)
  t.same(await counts(), [{ runs: 2, checkpoints: 1 }])
  const pool = openTestPool(t, database.serviceUrl, 1)
  await pruneKeys(pool)
  t.same((await finance('POST', checkpointPath, {}, key('sign'))).body, made[0]?.body, 'a new key is kept')

  const { checkpoint } = Object(made[0]?.body).data
  for (const [url, body, name] of [
    [path, { checkpoint }, 'start'],
    [path, {}, 'sign'],
    [checkpointPath, {}, 'start'],
    [`${path}/${id}/stop`, {}, 'start'],
  ] as const) {
    t.match(await finance('POST', url, body, key(name)), { status: 422, body: { code: 'idempotency_key_reused' } }, url)
  }
  t.same(await counts(), [{ runs: 2, checkpoints: 1 }], 'another request under a used key does nothing')

  await queryRows(
    database,
    `delete from replies; update made_checkpoints set at = at - interval '49 hours';
     update jobs set started_at = started_at - interval '49 hours'`,
  )
  await pruneKeys(pool)
  t.not(Object((await finance('POST', checkpointPath, {}, key('sign'))).body).data.id, Object(made[0]?.body).data.id)
  const again = runOf(await finance('POST', path, {}, key('start')))
  t.not(again.id, id, 'a key that was forgotten is a new one')
  await ended(opened, again.id)

  t.equal((await finance('POST', `${path}/99/stop`, {}, key('none'))).status, 404)
  await leftRunning(opened, -3_600)
  const refused = await finance('POST', path, {}, key('refused'))
  t.match(refused, { status: 422, body: { code: 'verification_running' } })
  await queryRows(database, `update jobs set state = 'stopped', ended_at = now()`)
  t.same((await finance('POST', path, {}, key('refused'))).body, refused.body, 'a refusal is remembered too')
})

test('a streamed verification that somebody stops ends without a result', async (t) => {
  const opened = await seededApp(t)
  const { app, staff, database } = opened
  const finance = staff('fin', 'finance')
  const gate = await holdVerifications(t, database)
  const token = app.jwt.sign({ sub: 'eve', role: 'finance' }, { expiresIn: '1h' })
  const streamed = app.inject({ url: '/admin/v1/ledger/verify', headers: { authorization: `Bearer ${token}` } })
  const newest = async () => Object((await finance('GET', '/admin/v1/jobs')).body).data[0]
  await until(async () => (await newest())?.state === 'running')
  const { id } = await newest()
  t.equal((await finance('POST', `/admin/v1/jobs/${id}/stop`)).status, 200)
  await gate()
  const { statusCode, body } = await streamed
  t.equal(statusCode, 200)
  t.match(body, '"progress"')
  t.notMatch(body, '"result"')
  t.match(await newest(), { id, state: 'stopped', stopped_by: 'staff:fin' })
})
