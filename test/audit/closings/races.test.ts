import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Test, test } from 'tap'
import { checkpointSigner } from '../../../src/audit/checkpoint.ts'
import { hashFile } from '../../../src/audit/closings/files.ts'
import { ClosingRefused } from '../../../src/audit/closings/month-books.ts'
import { MonthLock } from '../../../src/audit/closings/month-lock.ts'
import { readStep } from '../../../src/audit/closings/step-rows.ts'
import { startSteps } from '../../../src/audit/closings/steps-job.ts'
import { Jobs } from '../../../src/audit/jobs/jobs.ts'
import { threads } from '../../../src/audit/jobs/threads.ts'
import { verifyTask } from '../../../src/audit/verify/verifications.ts'
import { type ClosingStep, closingSteps } from '../../../src/features/closings/closing.ts'
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
  await queryRows(database, 'delete from closing_steps; delete from jobs')
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
function instance(t: Test, { database }: TestApp, closingsFolder: string) {
  const url = database.serviceUrl
  const jobs = new Jobs(url, { warn: () => {} })
  t.teardown(() => jobs.close())
  const parts = { jobs, url, db: readDb(t, database), signer: checkpointSigner(KEY), piiKey: '', closingsFolder }
  let last: Promise<unknown> = Promise.resolve()
  return {
    start: async (steps: readonly ClosingStep[], startedBy = 'staff:fin'): Promise<void> => {
      const { ended } = await startSteps(parts, { month, steps, startedBy })
      last = ended.catch(() => {})
    },
    ended: () => last,
  }
}

/** A run of a process that does not look whether it must stop. */
const leaveRunning = (database: TestDatabase, step: ClosingStep) =>
  queryRows(
    database,
    `with job as (
       insert into jobs (kind, subject, exclusive, started_by, events_total, input)
       values ('closing', '${month}', 'closing ${month}', 'staff:bob', 2, '["${step}"]') returning job_id
     )
     insert into closing_steps (month, step, job_id, first_position, last_position, kept_in, folder_id)
     select '${month}', '${step}', job_id, 1, 2, 'elsewhere:/data', 'elsewhere' from job`,
  )

test('a month is not recorded while a step runs, and no step runs while it is recorded', async (t) => {
  const opened = await openMonth(t)
  const { url, record, closingsFolder, app, stateOf, closeMonth } = opened
  const steps = instance(t, opened, closingsFolder)
  await steps.start(closingSteps)
  await steps.ended()

  const gate = await holdVerifications(t, opened.database)
  await steps.start(['draws', 'verify'])
  await until(async () => (await stateOf('verify')).state === 'running')
  t.match(await record(), running)
  await gate()
  await steps.ended()
  const other = await MonthLock.forSteps(url, month)
  t.match(await closeMonth(), { code: 2, err: /A step of a closing is running/ })
  await other?.close()

  const before = await stateOf('draws')
  const browser = await signedIn(app, 'finance', 'fin')
  const lock = await MonthLock.forRecording(url, month)
  await t.rejects(steps.start(['draws']), { code: 'steps_running' })
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
  await t.rejects(steps.start(['draws']), { code: 'month_closed' })
  t.same(await stateOf('draws'), before)
})

test('instances with folders of their own show, stop and record the same steps', { skip: onlyInFullRun }, async (t) => {
  const opened = await openMonth(t)
  const { app, database, finance, closingsFolder, stateOf, record } = opened
  const other = await createTestApp(t, { database })
  const here = await signedIn(app, 'finance', 'fin')
  const there = await signedIn(other.app, 'finance', 'eve')
  await leaveRunning(database, 'draws')
  t.equal((await there.submit(page, `${page}/stop`)).headers['location'], page)
  const asked = (await there.get(page)).html
  t.match(asked, /It ends in about a second, as .*eve.* asked/)
  t.notMatch(asked, '/stop"')
  await queryRows(database, 'delete from closing_steps; delete from jobs')

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
  t.match(await queryRows(database, `select state, stopped_by from jobs where kind = 'verification'`), [
    { state: 'stopped', stopped_by: 'staff:eve' },
  ])

  for (const [i, step] of closingSteps.entries()) {
    const browser = i < 7 ? here : there
    const action = `${page}/steps/${step}/run`
    // The job of a step ends, and releases its lock, a moment after the step.
    await until(async () => (await browser.get(page)).html.includes(`action="${action}"`))
    await until(async () => (await browser.submit(page, action)).status === 303)
    await until(async () => (await stateOf(step)).state === 'done')
  }
  const mixed = (await there.get(page)).html
  t.match(mixed, `${closingsFolder}/${month}`, 'where the files of the other are')
  t.match(mixed, `href="${page}/files/checkpoint.json"`)
  t.notMatch(mixed, `href="${page}/files/entries.csv.gz"`)
  t.match((await here.get(page)).html, `href="${page}/files/entries.csv.gz"`)
  const { checkpoint } = JSON.parse((await here.get(`${page}/files/manifest.json`)).html)
  t.same(JSON.parse((await there.get(`${page}/files/checkpoint.json`)).html), checkpoint)
  // As when the service runs in a new container, with the same volume: the id of the folder tells whose files they are.
  await queryRows(database, `update closing_steps set kept_in = 'former:/data/' || month`)
  t.match((await here.get(page)).html, `href="${page}/files/entries.csv.gz"`)

  const entries = join(closingsFolder, month, 'entries.csv.gz')
  const bytes = readFileSync(entries)
  rmSync(entries)
  t.match(await record(), { status: 422, body: { code: 'closing_outdated' } }, 'missing where it was written')
  writeFileSync(
    entries,
    bytes.map((byte) => 255 - byte),
  )
  t.match(await record(), { status: 422, body: { code: 'closing_outdated' } }, 'changed, of the same size')
  writeFileSync(entries, bytes)
  await until(async () => (await there.get(page)).html.includes('Review the closing'))
  t.equal((await there.submit(`${page}/record`, `${page}/record`)).headers['location'], page)
  const { data } = Object((await finance('GET', `/admin/v1/ledger/closings/${month}`)).body)
  t.match(data, { closed_by: 'staff:eve', checkpoint })
  const { sha256 } = data.files.find(({ name }: { name: string }) => name === 'entries.csv.gz')
  t.equal(sha256, await hashFile(entries))
  t.match((await there.get(page)).html, `former:/data/${month}`, 'also once it is recorded')
})

test('steps that are started, stopped and left, of one month', async (t) => {
  const shared = await ownApp(t)

  await t.test('of two instances that start a step at once, one runs it', async (t) => {
    const opened = await openMonth(t, shared)
    const { closingsFolder, stateOf } = opened
    const gate = await holdVerifications(t, opened.database)
    const instances = [1, 2].map(() => instance(t, opened, closingsFolder))
    const starts = await Promise.allSettled(instances.map((one, i) => one.start(['verify'], `staff:${i}`)))
    t.same(starts.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    const refusal = starts.find((one) => one.status === 'rejected')?.reason
    t.ok(refusal instanceof ClosingRefused)
    t.match(refusal, { code: 'steps_running' })
    const winner = starts.findIndex(({ status }) => status === 'fulfilled')
    await gate()
    await Promise.all(instances.map(({ ended }) => ended()))
    t.match(await stateOf('verify'), { state: 'done', made_by: `staff:${winner}` })
    t.same(await queryRows(opened.database, `select state from jobs where kind = 'verification'`), [{ state: 'done' }])
  })

  await t.test('a step whose process died, or lost its lock, can be run again at once', async (t) => {
    const opened = await openMonth(t, shared)
    const { closingsFolder, stateOf, database, record } = opened
    const steps = instance(t, opened, closingsFolder)
    await leaveRunning(database, 'draws')
    t.match(await stateOf('draws'), { state: 'running' })
    t.match(await record(), { status: 422, body: { code: 'closing_incomplete' } })
    await steps.start(['draws'])
    await steps.ended()
    t.match(await stateOf('draws'), { state: 'done', made_by: 'staff:fin' })

    const gate = await holdVerifications(t, opened.database)
    await steps.start(['verify', 'draws'])
    await until(async () => (await stateOf('verify')).state === 'running')
    const drawn = await stateOf('draws')
    await queryRows(
      { ownerUrl: await superuserUrl(database) },
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'economy closing' and datname = current_database()`,
    )
    await steps.ended()
    t.match(await stateOf('verify'), { state: 'failed', error: 'it was interrupted' })
    t.same(await stateOf('draws'), drawn, 'no further step begins')
    await gate()
    await steps.start(['verify'], 'staff:eve')
    await steps.ended()
    t.match(await stateOf('verify'), { state: 'done', made_by: 'staff:eve' })
  })

  await t.test('a request to stop that comes as a step ends is not lost', async (t) => {
    const opened = await openMonth(t, shared)
    const { database, closingsFolder, stateOf, closeMonth } = opened
    // As another instance's request in this very moment, which no sign of life of the step comes after.
    const superuser = { ownerUrl: await superuserUrl(database) }
    await queryRows(
      superuser,
      `create function request_stop() returns trigger language plpgsql as $$ begin
         update jobs set stopped_by = 'staff:eve' where job_id = new.job_id;
         return null;
       end $$;
       create trigger request_stop after update on closing_steps for each row execute function request_stop()`,
    )
    const steps = instance(t, opened, closingsFolder)
    await steps.start(['trial-balance', 'house-accounts'])
    await steps.ended()
    t.match(await stateOf('trial-balance'), { state: 'done', stopped_by: 'staff:eve' })
    t.match(await stateOf('house-accounts'), { state: 'waiting' })

    await steps.start(['house-accounts'])
    await steps.ended()
    t.match(await stateOf('house-accounts'), { state: 'done' }, 'what is left can be run')
    t.match(await closeMonth(), { code: 2, err: /it was stopped/ })
    t.match(await stateOf('open-withdrawals'), { state: 'waiting' }, 'of a command line, too')
    await queryRows(superuser, 'drop function request_stop cascade')
  })

  await t.test('the verification of a closing is one of those that run one at a time', async (t) => {
    const opened = await openMonth(t, shared)
    const { app, database, finance, closingsFolder, stateOf, closeMonth } = opened
    const verifications = '/admin/v1/ledger/verifications'
    const runs = () =>
      queryRows(database, `select started_by, state, stopped_by from jobs where kind = 'verification' order by job_id`)
    const browser = await signedIn(app, 'finance', 'fin')
    // The run of another instance.
    await queryRows(
      database,
      `insert into jobs (kind, subject, exclusive, started_by, events_total, heartbeat_at, input)
       values ('verification', '', 'verification', 'staff:bob', 20, now() + interval '1 hour', '{"checkpoint":null}')`,
    )
    for (const action of ['run', 'steps/verify/run']) {
      const refused = await browser.submit(page, `${page}/${action}`)
      t.match(refused, { status: 422, html: /A verification is running/ }, action)
    }
    t.match(await closeMonth(), { code: 2, err: /A verification is running/ })
    t.equal((await stateOf('verify')).state, 'waiting')
    const steps = instance(t, opened, closingsFolder)
    // As one that was started in the same moment.
    await steps.start(['verify'])
    await steps.ended()
    t.match(await stateOf('verify'), {
      state: 'failed',
      error: 'A verification is running. Wait for its end, or stop it.',
    })
    await queryRows(database, `delete from jobs where kind = 'verification'`)

    const gate = await holdVerifications(t, opened.database)
    t.equal((await browser.submit(page, `${page}/steps/verify/run`)).status, 303)
    await until(async () => (await runs()).length === 1)
    t.match(await finance('POST', verifications, {}), { status: 422, body: { code: 'verification_running' } })
    t.equal((await browser.submit(page, `${page}/stop`)).status, 303)
    t.match(await stateOf('verify'), { state: 'failed', error: 'it was stopped' })

    await steps.start(['verify'])
    await until(async () => (await runs()).length === 2)
    const [own] = Object((await finance('GET', verifications)).body).data
    t.match(own, { outcome: 'running', started_by: 'staff:fin' })
    t.match(await finance('POST', `${verifications}/${own.id}/stop`), { status: 200 })
    await steps.ended()
    t.match(await stateOf('verify'), { state: 'failed', error: 'it was stopped' })
    await gate()
    const stoppedRun = { started_by: 'staff:fin', state: 'stopped', stopped_by: 'staff:fin' }
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
  const verification = threads.run(
    import.meta.resolve('../../../src/audit/verify/verifications.ts'),
    verifyTask,
    { url: database.serviceUrl, asOf: null, checkpoint: null },
    abort.signal,
    () => {},
  )
  t.equal(workers.length, 1)
  abort.abort(new Error('enough'))
  await t.rejects(verification, { message: 'enough' })
  t.equal(workers[0]?.threadId, -1, 'it has ended')
})
