import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Test, test } from 'tap'
import { checkpointSigner } from '../../../src/audit/checkpoint/checkpoint.ts'
import { ClosingRefused } from '../../../src/audit/closings/closing-refused.ts'
import { hashFile } from '../../../src/audit/closings/hashed-file.ts'
import { MonthLock } from '../../../src/audit/closings/month-lock.ts'
import { RunningSteps } from '../../../src/audit/closings/running-steps.ts'
import { readStep } from '../../../src/audit/closings/step-rows.ts'
import { auditWorker } from '../../../src/audit/verify/audit-worker.ts'
import { closingSteps } from '../../../src/features/closings/closing-steps.ts'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestApp, readDb, type TestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { copyOf, superuserUrl, type TestDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'
import { auditInThisThread } from '../audit-in-this-thread.ts'
import { holdVerifications } from '../hold-verifications.ts'
import { oldMonth as month, oldLedger } from '../old-ledger.ts'
import { runAudit } from '../run-audit.ts'
import { seededLedger } from '../seed-ledger.ts'

const KEY = 'a checkpoint key for tests'
const page = `/console/reports/${month}`
const running = { status: 422, body: { code: 'steps_running', message: /^A step of a closing is running/ } }

let original: Promise<TestDatabase> | null = null

async function ownApp(t: Test): Promise<TestApp> {
  original ??= oldLedger()
  return createTestApp(t, { database: await copyOf(await original) })
}

/** Without steps; those of a test run in this thread. */
async function openMonth(t: Test, app?: TestApp) {
  auditInThisThread(t)
  const opened = app ?? (await ownApp(t))
  const { database, closingsFolder } = opened
  await queryRows(database, 'delete from closing_steps; delete from verification_runs')
  const finance = opened.staff('fin', 'finance')
  const db = readDb(t, database)
  return {
    ...opened,
    finance,
    url: database.serviceUrl,
    record: (key?: string) =>
      finance('POST', '/admin/v1/ledger/closings', { month }, key === undefined ? {} : { 'idempotency-key': key }),
    stateOf: (step: (typeof closingSteps)[number]) => readStep(db, month, step),
    closeMonth: () =>
      runAudit(
        { DATABASE_URL: database.serviceUrl, CHECKPOINT_KEY: KEY, DATA_DIR: closingsFolder },
        'close-month',
        month,
      ),
  }
}

/** The steps of an instance that shares the folder. */
function instance(t: Test, { database }: TestApp, closingsFolder: string): RunningSteps {
  const log = { warn: () => {} }
  const signer = checkpointSigner(KEY)
  const steps = new RunningSteps({ db: readDb(t, database), signer, piiKey: '', closingsFolder, log })
  t.teardown(() => steps.close())
  return steps
}

const ended = (steps: RunningSteps): Promise<void> => until(() => steps.current === null)

test('a month is not recorded while a step runs, and no step runs while it is recorded', async (t) => {
  const opened = await openMonth(t)
  const { url, record, closingsFolder, app, stateOf, closeMonth } = opened
  const steps = instance(t, opened, closingsFolder)
  await steps.start(month, closingSteps, url, 'staff:fin')
  await ended(steps)

  const gate = await holdVerifications(t, opened.database)
  await steps.start(month, ['draws', 'verify'], url, 'staff:fin')
  await until(async () => (await stateOf('verify')).state === 'running')
  t.match(await record(), running)
  await gate()
  await ended(steps)
  const other = await MonthLock.forSteps(url, month)
  t.match(await closeMonth(), { code: 2, err: /A step of a closing is running/ })
  await other?.close()

  const before = await stateOf('draws')
  const browser = await signedIn(app, 'finance', 'fin')
  const lock = await MonthLock.forRecording(url, month)
  await t.rejects(steps.start(month, ['draws'], url, 'staff:fin'), { code: 'steps_running' })
  t.match(await browser.submit(page, `${page}/steps/draws/run`), {
    status: 422,
    html: /A step of a closing is running/,
  })
  t.same(await stateOf('draws'), before)
  const [first, second] = await Promise.all([record('once'), record('once')])
  t.match(first, { status: 201 }, 'others may record it at the same time')
  t.same(second?.body, first?.body, 'which is done once')
  await lock?.close()

  t.match(await record('again'), { status: 422, body: { code: 'month_closed' } })
  await t.rejects(steps.start(month, ['draws'], url, 'staff:fin'), { code: 'month_closed' })
  t.same(await stateOf('draws'), before)
})

test('instances with folders of their own show, stop and record the same steps', { skip: onlyInFullRun }, async (t) => {
  const opened = await openMonth(t)
  const { app, database, finance, closingsFolder, stateOf, record } = opened
  const other = await createTestApp(t, { database })
  const here = await signedIn(app, 'finance', 'fin')
  const there = await signedIn(other.app, 'finance', 'eve')
  // The run of a process that does not look whether it must stop.
  await queryRows(
    database,
    `insert into closing_steps (month, step, run_id, state, made_by, first_position, last_position, queued, kept_in,
                                folder_id)
     values ('${month}', 'draws', gen_random_uuid(), 'running', 'staff:bob', 1, 2, '[]', 'elsewhere:/data', 'elsewhere')`,
  )
  t.equal((await there.submit(page, `${page}/stop`)).headers['location'], page)
  const asked = (await there.get(page)).html
  t.match(asked, /It ends in about a second, as .*eve.* asked/)
  t.notMatch(asked, '/stop"')
  await queryRows(database, 'delete from closing_steps')

  const gate = await holdVerifications(t, database)
  t.equal((await here.submit(page, `${page}/run`)).status, 303)
  const watched = (await there.get(page)).html
  t.match(watched, `hx-get="${page}/steps/verify/progress"`)
  t.match(watched, 'runs next')
  t.notMatch(watched, '/run"')
  t.equal((await there.submit(page, `${page}/stop`)).headers['location'], page)
  await until(async () => (await stateOf('verify')).state === 'failed')
  t.match(await stateOf('verify'), { error: 'it was stopped', stopped_by: 'staff:eve' })
  await gate()
  await until(async () => (await there.get(page)).html.includes(`action="${page}/run"`))
  t.match(await stateOf('trial-balance'), { state: 'waiting' }, 'no further one begins')
  t.match(await queryRows(database, 'select outcome, stopped_by from verification_runs'), [
    { outcome: 'stopped', stopped_by: 'staff:eve' },
  ])

  for (const step of closingSteps.slice(0, 7)) {
    // The lock of a step is released a moment after its end.
    await until(async () => (await here.submit(page, `${page}/steps/${step}/run`)).status === 303)
    await until(async () => (await stateOf(step)).state === 'done')
  }
  await until(async () => (await there.submit(page, `${page}/steps/checkpoint/run`)).status === 303)
  await until(async () => (await stateOf('checkpoint')).state === 'done')
  const mixed = (await there.get(page)).html
  t.match(mixed, `${closingsFolder}/${month}`, 'where the files of the other are')
  t.match(mixed, `href="${page}/files/checkpoint.json"`)
  t.notMatch(mixed, `href="${page}/files/entries.csv"`)
  t.match((await here.get(page)).html, `href="${page}/files/entries.csv"`)
  const { checkpoint } = JSON.parse((await here.get(`${page}/files/manifest.json`)).html)
  t.same(JSON.parse((await there.get(`${page}/files/checkpoint.json`)).html), checkpoint)
  // As when the service runs in a new container, with the same volume: the id of the folder tells whose files they are.
  await queryRows(database, `update closing_steps set kept_in = 'former:/data/' || month`)
  t.match((await here.get(page)).html, `href="${page}/files/entries.csv"`)

  const entries = join(closingsFolder, month, 'entries.csv')
  const text = readFileSync(entries)
  rmSync(entries)
  t.match(await record(), { status: 422, body: { code: 'closing_outdated' } }, 'missing where it was written')
  writeFileSync(entries, text.toString().replaceAll('1', '2'))
  t.match(await record(), { status: 422, body: { code: 'closing_outdated' } }, 'changed, of the same size')
  writeFileSync(entries, text)
  await until(async () => (await there.get(page)).html.includes('Review the closing'))
  t.equal((await there.submit(`${page}/record`, `${page}/record`)).headers['location'], page)
  const { data } = Object((await finance('GET', `/admin/v1/ledger/closings/${month}`)).body)
  t.match(data, { closed_by: 'staff:eve', checkpoint })
  const { sha256 } = data.files.find(({ name }: { name: string }) => name === 'entries.csv')
  t.equal(sha256, await hashFile(entries))
  t.match((await there.get(page)).html, `former:/data/${month}`, 'also once it is recorded')
})

test('steps that are started, stopped and left, of one month', async (t) => {
  const shared = await ownApp(t)

  await t.test('of two instances that start a step at once, one runs it', async (t) => {
    const opened = await openMonth(t, shared)
    const { url, closingsFolder, stateOf } = opened
    const gate = await holdVerifications(t, opened.database)
    const instances = [1, 2].map(() => instance(t, opened, closingsFolder))
    const starts = await Promise.allSettled(instances.map((one, i) => one.start(month, ['verify'], url, `staff:${i}`)))
    t.same(starts.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    const refusal = starts.find((one) => one.status === 'rejected')?.reason
    t.ok(refusal instanceof ClosingRefused)
    t.match(refusal, { code: 'steps_running' })
    const winner = starts.findIndex(({ status }) => status === 'fulfilled')
    await gate()
    await until(() => instances.every(({ current }) => current === null))
    t.match(await stateOf('verify'), { state: 'done', made_by: `staff:${winner}` })
    t.same(await queryRows(opened.database, 'select outcome from verification_runs'), [{ outcome: 'clean' }])
  })

  await t.test('a step whose process died, or lost its lock, can be run again at once', async (t) => {
    const opened = await openMonth(t, shared)
    const { url, closingsFolder, stateOf, database, record } = opened
    const steps = instance(t, opened, closingsFolder)
    await queryRows(
      database,
      `insert into closing_steps (month, step, run_id, state, made_by, first_position, last_position, queued, kept_in,
                                folder_id)
       values ('${month}', 'draws', gen_random_uuid(), 'running', 'staff:bob', 1, 2, '[]', 'elsewhere:/data', 'elsewhere')`,
    )
    t.match(await stateOf('draws'), { state: 'running' })
    t.match(await record(), { status: 422, body: { code: 'closing_incomplete' } })
    await steps.start(month, ['draws'], url, 'staff:fin')
    await ended(steps)
    t.match(await stateOf('draws'), { state: 'done', made_by: 'staff:fin' })

    const gate = await holdVerifications(t, opened.database)
    await steps.start(month, ['verify', 'draws'], url, 'staff:fin')
    await until(async () => (await stateOf('verify')).state === 'running')
    const drawn = await stateOf('draws')
    await queryRows(
      { ownerUrl: await superuserUrl(database) },
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'economy closing' and datname = current_database()`,
    )
    await ended(steps)
    t.match(await stateOf('verify'), { state: 'running' }, 'the owner of the lock may have written it')
    t.same(await stateOf('draws'), drawn, 'no further step begins')
    await gate()
    await steps.start(month, ['verify'], url, 'staff:eve')
    await ended(steps)
    t.match(await stateOf('verify'), { state: 'done', made_by: 'staff:eve' })
  })

  for (const [when, timing, body] of [
    ['as a step ends', 'before', `new.stopped_by := 'staff:eve'; return new;`],
    [
      'between two steps',
      'after',
      `update closing_steps set stopped_by = 'staff:eve' where run_id = new.run_id; return null;`,
    ],
  ] as const) {
    await t.test(`a request to stop that comes ${when} is not lost`, async (t) => {
      const opened = await openMonth(t, shared)
      const { url, database, closingsFolder, stateOf, closeMonth } = opened
      // As another instance's request in this very moment, which no sign of life of the step comes after.
      const superuser = { ownerUrl: await superuserUrl(database) }
      await queryRows(
        superuser,
        `create function request_stop() returns trigger language plpgsql as $$ begin ${body} end $$;
         create trigger request_stop ${timing} update on closing_steps for each row
         when (old.state = 'running' and new.state <> 'running') execute function request_stop()`,
      )
      const steps = instance(t, opened, closingsFolder)
      await steps.start(month, ['trial-balance', 'house-accounts'], url, 'staff:fin')
      await ended(steps)
      t.match(await stateOf('trial-balance'), { state: 'done', stopped_by: 'staff:eve' })
      t.match(await stateOf('house-accounts'), { state: 'waiting' })

      await steps.start(month, ['house-accounts'], url, 'staff:fin')
      await ended(steps)
      t.match(await stateOf('house-accounts'), { state: 'done' }, 'what is left can be run')
      t.match(await closeMonth(), { code: 2, err: /it was stopped/ })
      t.match(await stateOf('open-withdrawals'), { state: 'waiting' }, 'of a command line, too')
      await queryRows(superuser, 'drop function request_stop cascade')
    })
  }

  await t.test('the verification of a closing is one of those that run one at a time', async (t) => {
    const opened = await openMonth(t, shared)
    const { url, app, database, finance, closingsFolder, stateOf, closeMonth } = opened
    const verifications = '/admin/v1/ledger/verifications'
    const runs = () =>
      queryRows(database, 'select started_by, outcome, stopped_by from verification_runs order by run_id')
    const browser = await signedIn(app, 'finance', 'fin')
    // The run of another instance.
    await queryRows(
      database,
      `insert into verification_runs (started_by, events_total, heartbeat_at)
       values ('staff:bob', 20, now() + interval '1 hour')`,
    )
    for (const action of ['run', 'steps/verify/run']) {
      const refused = await browser.submit(page, `${page}/${action}`)
      t.match(refused, { status: 422, html: /A verification is running/ }, action)
    }
    t.match(await closeMonth(), { code: 2, err: /A verification is running/ })
    t.equal((await stateOf('verify')).state, 'waiting')
    const steps = instance(t, opened, closingsFolder)
    // As one that was started in the same moment.
    await steps.start(month, ['verify'], url, 'staff:fin')
    await ended(steps)
    t.match(await stateOf('verify'), {
      state: 'failed',
      error: 'A verification is running. Wait for its end, or stop it.',
    })
    await queryRows(database, 'delete from verification_runs')

    const gate = await holdVerifications(t, opened.database)
    t.equal((await browser.submit(page, `${page}/steps/verify/run`)).status, 303)
    await until(async () => (await runs()).length === 1)
    t.match(await finance('POST', verifications, {}), { status: 422, body: { code: 'verification_running' } })
    t.equal((await browser.submit(page, `${page}/stop`)).status, 303)
    t.match(await stateOf('verify'), { state: 'failed', error: 'it was stopped' })

    await steps.start(month, ['verify'], url, 'staff:fin')
    await until(async () => (await runs()).length === 2)
    const [own] = Object((await finance('GET', verifications)).body).data
    t.match(own, { outcome: 'running', started_by: 'staff:fin' })
    t.match(await finance('POST', `${verifications}/${own.id}/stop`), { status: 200 })
    await ended(steps)
    t.match(await stateOf('verify'), { state: 'failed', error: 'it was stopped' })
    await gate()
    const stoppedRun = { started_by: 'staff:fin', outcome: 'stopped', stopped_by: 'staff:fin' }
    t.same(await runs(), [stoppedRun, stoppedRun])
  })
})

test('an aborted task is over when it says so: its thread writes no more', async (t) => {
  const database = await seededLedger()
  const workers: Worker[] = []
  const onWorker = (message: unknown): void => {
    const { worker } = Object(message)
    if (worker instanceof Worker) workers.push(worker)
  }
  subscribe('worker_threads', onWorker)
  t.teardown(() => unsubscribe('worker_threads', onWorker))
  await holdVerifications(t, database)
  const abort = new AbortController()
  const verification = auditWorker.verify(database.serviceUrl, { asOf: null, checkpoint: null }, abort.signal, () => {})
  t.equal(workers.length, 1)
  abort.abort(new Error('enough'))
  await t.rejects(verification, { message: 'enough' })
  t.equal(workers[0]?.threadId, -1, 'it has ended')
})
