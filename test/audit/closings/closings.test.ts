import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { test } from 'tap'
import { ensureFolderId, findClosingFile, monthFolder, readFolderId } from '../../../src/audit/closings/files.ts'
import { readMonthBooks } from '../../../src/audit/closings/month-books.ts'
import type { StepState } from '../../../src/audit/closings/step.ts'
import { readSteps } from '../../../src/audit/closings/step-rows.ts'
import { closingSteps, nextMonth } from '../../../src/features/closings/closing.ts'
import { createTestApp, readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { auditInThisThread } from '../audit-in-this-thread.ts'
import { oldMonth as month, oldLedger } from '../old-ledger.ts'
import { runAudit } from '../run-audit.ts'
import { rebuildTables, rechain, tamper, verifyDatabase } from '../verify-database.ts'
import { CHECKPOINT_KEY, runSteps } from './run-steps.ts'

const KEY = CHECKPOINT_KEY
const path = '/admin/v1/ledger/closings'

const statesOf = (steps: readonly StepState[]): string[] => steps.map(({ state }) => state)

test('a draw that was changed is a finding, also where another step has recomputed it', async (t) => {
  const database = await oldLedger()
  const opened = await createTestApp(t, { database })
  auditInThisThread(t)
  await tamper(
    database,
    `update ledger_events set data = regexp_replace(data, '"[0-9a-f]{64}"', '"${'0'.repeat(64)}"')
     where position = (select max(position) from ledger where type = 'gift-drawn')`,
  )
  await rechain(database)
  const found = async (...steps: ('verify' | 'draws')[]) => (await runSteps(t, opened, steps)).at(-1)
  const after = await found('verify', 'draws')
  t.match(after, { step: 'draws', state: 'failed', findings: [{ kind: 'draw' }] })
  const alone = await found('draws')
  const findingsOf = (step: StepState | undefined) => step?.state !== 'waiting' && step?.findings
  t.same(findingsOf(after), findingsOf(alone))
})

test('a whole month is closed, from its first step to the next month', async (t) => {
  const database = await oldLedger()
  const opened = await createTestApp(t, { database })
  const { user, app, closingsFolder } = opened
  const finance = opened.staff('fin', 'finance')
  const db = readDb(t, database)
  const folder = monthFolder(closingsFolder, month)
  const head = Number((await queryRows(database, 'select position from ledger_head'))[0]?.['position'])
  const close = (of = month) => finance('POST', path, { month: of })

  t.same((await finance('GET', path)).body, { data: [], meta: { next_cursor: null } })
  t.equal((await finance('GET', `${path}/${month}`)).status, 404)
  t.match(await close(), { status: 422, body: { code: 'closing_incomplete' } })
  t.same(
    statesOf(await readSteps(db, month)),
    closingSteps.map(() => 'waiting'),
  )
  const books = await readMonthBooks(db, month)
  t.match(books, { first: 1, last: head, previous: null, closing: null, refusal: null })
  for (const [of, code] of [
    [nextMonth(nextMonth(nextMonth(month))), 'month_not_over'],
    ['2025-01', 'month_before_ledger'],
  ] as const) {
    t.equal((await readMonthBooks(db, of)).refusal?.code, code)
    t.match(await close(of), { status: 422, body: { code } })
    await t.rejects(runSteps(t, opened, ['export'], of), { message: /./ })
  }
  t.equal((await finance('POST', path, { month: '2025-13' })).status, 422)
  t.match(await runSteps(t, opened, ['trial-balance']), [{ state: 'done' }], 'in a thread, as in a service')
  await t.test('a step says the same alone and after those that found out what it needs', async (t) => {
    const outcomes = (states: readonly StepState[]) =>
      states.map((one) => (one.state === 'waiting' ? null : { step: one.step, result: one.result, files: one.files }))
    const others = ['house-accounts', 'exceptions', 'draws'] as const
    const after = await runSteps(t, opened, ['verify', 'trial-balance', ...others])
    const alone: StepState[] = []
    for (const step of others) alone.push(...(await runSteps(t, opened, [step])))
    t.same(outcomes(after.slice(2)), outcomes(alone))
  })

  // Threads take longer to load than their work takes.
  auditInThisThread(t)

  await t.test('a step that found something forbids the recording', async (t) => {
    await queryRows(database, `update balances set balance = balance + 1 where account = 'user:2:dollars'`)
    const [failed] = await runSteps(t, opened, ['verify'])
    t.match(failed, {
      state: 'failed',
      made_by: 'staff:fin',
      result: { rows: [['projection', '', 'balances', 'user:2:dollars']] },
    })
    await runSteps(t, opened, closingSteps.slice(1))
    t.match(await close(), { status: 422, body: { code: 'closing_step_failed' } })
    await queryRows(database, `update balances set balance = balance - 1 where account = 'user:2:dollars'`)
    t.same(statesOf(await runSteps(t, opened, ['verify'])), ['done'])
  })

  const steps = await readSteps(db, month)
  t.same(
    statesOf(steps),
    closingSteps.map(() => 'done'),
  )
  const summaries = steps.map((one) => (one.state === 'waiting' ? '' : one.result?.summary))
  t.match(summaries, [
    /^Clean: \d+ events/,
    'Every currency sums to zero.',
    /accounts of the house/,
    '0 pending, 0 approved and not yet transferred.',
    /acts of staff with their reason, .*; no overdrawn account/,
    /files\.$/,
    /All are as published/,
    `Signed position ${head}.`,
  ])
  const verifyExport = (file: string) =>
    runAudit({ DATABASE_URL: database.serviceUrl, CHECKPOINT_KEY: KEY }, 'verify-export', join(folder, file))
  const clean = await verifyExport('manifest.json')
  t.match(clean, { code: 0, out: /^clean: 2 files of/ }, clean.err)
  t.match(await verifyExport('entries.csv.gz'), { code: 0, out: /^clean: 1 files of/ })
  t.match(await verifyExport('checkpoint.json'), { code: 2, err: /is not a file of the manifest/ })

  await t.test('a file that was changed is found, and not recorded', async (t) => {
    const name = 'entries.csv.gz'
    const stored = readFileSync(join(folder, name))
    t.equal(statSync(join(folder, name)).mode & 0o777, 0o600, `${name} is its owner's alone`)
    const text = gunzipSync(stored).toString()
    writeFileSync(join(folder, name), gzipSync(text.replace(/,-40$/m, ',-41')))
    const report = await verifyExport('manifest.json')
    t.match(report, { code: 1, out: /entries.csv.gz: has the SHA-256/ })
    t.match(report.out, /entries.csv.gz: user:2:diamonds sums to \S+, in the ledger to/)
    t.match(await close(), { status: 422, body: { code: 'closing_outdated' } })
    writeFileSync(join(folder, name), stored.subarray(0, -20))
    t.match(await verifyExport(name), { code: 1, out: /entries.csv.gz: cannot be read: / })
    writeFileSync(join(folder, name), stored)
    t.same(
      [folder, closingsFolder].map((path) => statSync(path).mode & 0o777),
      [0o700, 0o700],
    )
    const manifest = readFileSync(join(folder, 'manifest.json'), 'utf8')
    writeFileSync(join(folder, 'manifest.json'), manifest.replace('"made_by": "staff:fin"', '"made_by": "staff:eve"'))
    t.match(await verifyExport('events.jsonl.gz'), { code: 1, out: /the signature is wrong/ })
    const { files, made_at, ...rest } = JSON.parse(manifest)
    const others = files.filter((file: { name: string }) => file.name !== name)
    const forgeries = [
      // Its line in a text before it, as if the signed text were only a row of lines.
      [{ ...rest, files: others, made_at: `${made_at}\nfile ${name} 1 ${'0'.repeat(64)}` }, 2, /missing or invalid/],
      [{ ...rest, files: others, made_at }, 1, /does not list entries.csv.gz/],
      [{ ...rest, files, made_at, to_at: '1999-01-01T00:00:00.000000Z' }, 1, /the signature is wrong/],
    ] as const
    for (const [forged, code, words] of forgeries) {
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify(forged))
      const { code: found, out, err } = await verifyExport('manifest.json')
      t.equal(found, code)
      t.match(`${out}${err}`, words)
    }
    writeFileSync(join(folder, 'manifest.json'), manifest)
    appendFileSync(join(folder, 'events.jsonl.gz'), '\n')
    t.match(await verifyExport('events.jsonl.gz'), { code: 1, out: /bytes/ })
    truncateSync(
      join(folder, 'events.jsonl.gz'),
      files.find((file: { name: string }) => file.name === 'events.jsonl.gz').bytes,
    )
  })

  await t.test('files of another ledger with the same positions are not recorded', async (t) => {
    const change = (from: string, to: string): string =>
      `update shown_events set data = replace(data, '"reason":"${from}', '"reason":"${to}') where type = 'balance-credited'`
    await tamper(database, change('', 'x'))
    await rechain(database)
    t.match(await close(), { status: 422, body: { code: 'closing_outdated' } })
    await tamper(database, change('x', ''))
    await rechain(database)
  })

  t.equal((await user(1)('POST', path, { month })).status, 403)
  t.equal((await app.inject({ method: 'POST', url: path, payload: { month } })).statusCode, 401)
  const recorded = await close()
  t.equal(recorded.status, 201, recorded.text)
  const { data } = Object(recorded.body)
  t.match(data, { month, first_position: 1, position: head, id: head + 1, checkpoint: { position: head } })
  t.ok(data.files.some(({ name }: { name: string }) => name === 'manifest.json'))
  t.match(Object((await finance('GET', `${path}/${month}`)).body).data, { ...data, closed_by: 'staff:fin' })
  t.equal(Object((await finance('GET', path)).body).data.length, 1)
  t.match(await close(), { status: 422, body: { code: 'month_closed' } })
  t.equal((await readMonthBooks(db, month)).refusal?.code, 'month_closed')
  t.same((await verifyDatabase(database)).findings, [])
  await rebuildTables(database)
  t.equal(Object((await finance('GET', path)).body).data.length, 1, 'rebuilt from the ledger')

  await t.test('a closing whose checkpoint is not the ledger’s is found', async (t) => {
    const hash = '0'.repeat(64)
    const change = (from: string, to: string): string =>
      `update shown_events set data = replace(data, '"hash":"${from}"', '"hash":"${to}"') where type = 'month-closed'`
    await tamper(database, change(data.checkpoint.hash, hash))
    await rechain(database)
    const { findings } = await verifyDatabase(database)
    t.match(findings[0], { check: 'checkpoint', position: head + 1, message: new RegExp(`with the hash ${hash}`) })
    await tamper(database, change(hash, data.checkpoint.hash))
    await rechain(database)
  })

  const next = nextMonth(month)
  t.match(await readMonthBooks(db, next), { first: head + 1, last: head, previous: { month }, refusal: null })
  t.match(await close(nextMonth(next)), { status: 422, body: { code: String } })
  const env = { DATABASE_URL: database.serviceUrl, CHECKPOINT_KEY: KEY, DATA_DIR: closingsFolder }
  const closed = await runAudit(env, 'close-month', next)
  t.match(
    closed,
    { code: 0, out: new RegExp(`closed ${next}: positions ${head + 1} to ${head}, event ${head + 2}`) },
    closed.err,
  )
  t.match(await runAudit(env, 'close-month', next), { code: 2, err: /closed already/ })
  t.match(await runAudit(env, 'close-month', 'x'), { code: 2 })
  t.equal(Object((await finance('GET', path)).body).data[0].month, next)
  t.same((await verifyDatabase(database)).findings, [])
})

test('files of a closing are found by safe names only', async (t) => {
  const { closingsFolder } = await createTestApp(t)
  const folder = monthFolder(closingsFolder, month)
  t.equal(readFolderId(folder), null)
  const id = ensureFolderId(folder)
  t.equal(ensureFolderId(monthFolder(closingsFolder, '2026-01')), id)
  t.equal(readFolderId(folder), id)
  writeFileSync(join(closingsFolder, '.id'), '')
  t.throws(() => ensureFolderId(folder), /is empty/)

  writeFileSync(join(closingsFolder, 'a.csv'), 'x')
  writeFileSync(join(closingsFolder, 'key'), 'x')
  t.match(findClosingFile(closingsFolder, 'a.csv'), { bytes: 1 })
  for (const name of [
    'key',
    '../a.csv',
    './a.csv',
    'b.csv',
    '.csv',
    'a.csv/',
    'a.gz',
    '',
    'steps/verify.json',
    `a.csv\0`,
  ]) {
    t.equal(findClosingFile(closingsFolder, name), null, name)
  }
})
