import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'tap'
import { compareTable } from '../../../src/audit/verify/compare-table.ts'
import { type Finding, Findings } from '../../../src/audit/verify/finding.ts'
import { LedgerScan } from '../../../src/audit/verify/ledger-scan.ts'
import { WorkerRowVerifier } from '../../../src/audit/verify/row-verifier.ts'
import { tables } from '../../../src/domain.ts'
import { addBagItems } from '../../../src/features/gifts/bag.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { Snapshot } from '../../../src/ledger/replay/snapshot.ts'
import { balances } from '../../../src/ledger/rules/account.ts'
import type { Page } from '../../../src/ledger/storage/copy-rows.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'
import type { Scope } from '../../harness/scope.ts'
import { until } from '../../harness/until.ts'
import { seededLedger, withOwnExecutors } from '../seed-ledger.ts'
import { changed, keepRows, rechain, tamper, verifyDatabase } from '../verify-database.ts'

// Each event gets integrity checks and semantic checks; for a long ledger the former run in a worker thread.

/** Scans a ledger as if it were as long as `assumedLength`. */
async function read(t: Scope, { serviceUrl }: TestDatabase, assumedLength: number) {
  const snapshot = await Snapshot.connect(serviceUrl)
  t.teardown(() => snapshot.close())
  const head = await snapshot.head()
  const findings = new Findings()
  const options = { progress: () => {}, signal: new AbortController().signal }
  const reading = await LedgerScan.start(snapshot, { ...head, position: assumedLength }, findings, options)
  t.teardown(() => reading.close())
  await reading.scanUpTo(head.position)
  await reading.drain()
  return { reading, findings }
}

/** Lengths for which the rows are verified inline, and in a worker. */
const inline = 1
const inWorker = 1_000_000

test('the findings of both kinds of checks are reported once and in order, inline and in a worker', async (t) => {
  const database = await seededLedger()
  const sound = await read(t, database, inWorker)
  t.same([sound.findings.sorted(), sound.reading.count, sound.reading.last.position], [[], 22, 22])

  await tamper(
    database,
    changed(3, `type = 'user-doubled'`),
    changed(9, `debit = debit || 'nobody'::text, credit = credit || 'nobody'::text, amount = amount || 5::bigint`),
    changed(11, 'amount[1] = 20000'),
    changed(14, `credit[2] = 'user:1:coins'`),
    changed(16, `data = regexp_replace(data, '"r":\\d', '"r":9')`),
    changed(19, `at = '2020-01-01'`),
    'delete from ledger_events where position = 21',
  )
  for (const where of [inline, inWorker]) {
    const { findings, reading } = await read(t, database, where)
    t.same([reading.count, reading.last.position], [21, 22])
    const found = Map.groupBy(findings.sorted(), ({ position }) => position)
    t.same(
      [...found].map(([position, those]) => `${position}: ${those.map(({ check }) => check).join(', ')}`),
      [
        '3: hash, form',
        '9: hash, double-entry',
        '11: hash, rules',
        '14: hash, double-entry',
        '16: hash, draw',
        '19: hash, time',
        '21: order',
        // The room has no balance: the event that would have credited it was rejected.
        '22: rules',
      ],
    )
  }
})

test('a column that cannot be read is reported once', async (t) => {
  const database = await seededLedger()
  const cases: [change: string, message: RegExp][] = [
    [`at = 'infinity'`, /^event 12 has a time outside the years 1 to 9999$/],
    [`at = '0044-03-15 BC'`, /^event 12 has a time outside the years 1 to 9999$/],
    ['actor = null', /^event 12 has no actor$/],
    ['data = null', /^event 12 has no data$/],
  ]
  await tamper(database, 'alter table ledger_events alter actor drop not null, alter data drop not null')
  const restore = await keepRows(database, 'ledger_events')
  for (const [change, message] of cases) {
    await tamper(database, changed(12, change))
    const { findings } = await read(t, database, inline)
    const [first, ...more] = findings.sorted().filter(({ position }) => position === 12)
    t.match(first, { check: 'form', message }, change)
    t.same(more, [])
    await restore()
  }
})

test('with enough findings both kinds of checks stop at the same event', async (t) => {
  const database = await seededLedger(async (inner, database) => {
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    const item = { user_id: 3, decoration_id: 1, quantity: 1, reason: 'many' }
    await Promise.all(Array.from({ length: 4_000 }, () => runOk(addBagItems, item)))
  })
  await tamper(database, `update shown_events set data = '{}' where position > 1000`)
  for (const where of [inline, inWorker]) {
    const { findings, reading } = await read(t, database, where)
    // Two of each: its hash, and its form.
    t.same(findings.cutoff, { position: 1010, events: 1010 })
    t.equal(findings.sorted().length, 20)
    t.ok(reading.count < 3_000, `${reading.count} events were scanned`)
  }
  await rechain(database)
  for (const where of [inline, inWorker]) {
    const { findings } = await read(t, database, where)
    t.same(findings.cutoff, { position: 1020, events: 1020 }, 'when only one kind has findings')
  }
})

const script = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`)
const never = new AbortController().signal
const page = (length: number): Page => Buffer.alloc(length)

test('a thread that dies is an error, not a result', async (t) => {
  const dying: [text: string, message: RegExp][] = [
    ['process.exit(0)', /ended before it was done/],
    [`throw new Error('no memory')`, /no memory/],
    [`require('node:worker_threads').parentPort.on('message', () => { throw new Error('at work') })`, /at work/],
  ]
  for (const [text, message] of dying) {
    const verifier = new WorkerRowVerifier(
      () => {},
      never,
      script(text.replace('require(', 'process.getBuiltinModule(')),
    )
    await verifier.submit(page(4)).catch(() => {})
    await t.rejects(verifier.drain(), { message })
    await t.rejects(verifier.submit(page(4)), { message })
    await t.rejects(verifier.takeBalances(), { message })
    await verifier.close()
  }
})

test('an aborted verification does not wait for its thread', async (t) => {
  const abort = new AbortController()
  const verifier = new WorkerRowVerifier(() => {}, abort.signal, script('setInterval(() => {}, 1000)'))
  await verifier.submit(page(4))
  const settled = verifier.drain()
  abort.abort(new Error('ended by SIGINT'))
  await t.rejects(settled, { message: 'ended by SIGINT' })
  await t.rejects(verifier.takeBalances(), { message: 'ended by SIGINT' })
  await verifier.close()
})

/** The differences between all tables and the scanned events. */
async function differences(database: TestDatabase, reading: LedgerScan): Promise<readonly Finding[]> {
  const snapshot = await Snapshot.open(database.serviceUrl)
  const found: Finding[] = []
  for (const table of tables.filter(({ source }) => source === 'ledger')) {
    found.push(...(await compareTable(snapshot, table, reading.rows, async () => {})))
  }
  await snapshot.close()
  return found
}

test('after the import all balances are in one state, which later events change', async (t) => {
  const database = await seededLedger()
  for (const where of [inline, inWorker]) {
    const { reading, findings } = await read(t, database, where)
    t.throws(() => reading.rows.get(balances, 'user:1:diamonds'), { message: /is not kept here/ })
    await reading.importBalances()
    t.same(await differences(database, reading), [])

    await withOwnExecutors(async (inner) => {
      const { runOk } = createTestExecutor(inner, database.serviceUrl)
      await runOk(credit, { user_id: 3, currency: 'coins', amount: 5, reason: 'more' })
      await runOk(credit, { user_id: 3, currency: 'dollars', amount: 5, reason: 'more' })
    })
    t.equal((await differences(database, reading)).length, 4)
    await reading.scanUpTo(reading.next + 1)
    await reading.drain()
    t.same(await differences(database, reading), [])
    t.same(findings.sorted(), [])
    await tamper(database, `update balances set balance = balance + 1 where account = 'user:3:coins'`)
    t.equal((await differences(database, reading)).length, 1)
    await tamper(database, `update balances set balance = balance - 1 where account = 'user:3:coins'`)
  }
})

test('an event with an unreadable or invalid column still counts for the balances', async (t) => {
  const database = await seededLedger()
  await tamper(
    database,
    'alter table ledger_events alter hash drop not null, alter actor drop not null, alter request_id drop not null',
  )
  const restore = await keepRows(database, 'ledger_events')
  const cases: [change: string, findings: string[]][] = [
    ['hash = null', ['8 form', '9 hash']],
    ['actor = null', ['8 form']],
    ['request_id = null', ['8 form']],
    [`data = '{}'`, ['8 hash', '8 form']],
  ]
  for (const [change, expected] of cases) {
    await tamper(database, changed(8, change))
    const { findings } = await verifyDatabase(database)
    t.same(
      findings.map(({ position, check }) => `${position} ${check}`),
      expected,
      change,
    )
    await restore()
  }
})

test('a reader that is faster than the thread waits for it', async (t) => {
  const answering = `
    const { parentPort } = process.getBuiltinModule('node:worker_threads')
    let held = []
    parentPort.on('message', (task) => {
      const last = { position: task.page.length, hash: '', at: 0 }
      parentPort.postMessage({ type: "page-result", result: { findings: [], last } })
    })`
  const positions: number[] = []
  const silent = new WorkerRowVerifier(() => {}, never, script('setInterval(() => {}, 1000)'))
  let submitted = 0
  const submitting = (async () => {
    for (; submitted < 1000; submitted += 1) await silent.submit(page(4))
  })()
  await until(() => submitted >= 128)
  for (let turns = 0; turns < 10; turns += 1) await nextTurn()
  t.equal(submitted, 128)
  await silent.close()
  await t.rejects(submitting, /ended before it was done/)

  const prompt = new WorkerRowVerifier(({ last }) => positions.push(last.position), never, script(answering))
  for (let i = 1; i <= 100; i += 1) await prompt.submit(page(i))
  await prompt.drain()
  t.same(
    positions,
    Array.from({ length: 100 }, (_, i) => i + 1),
  )
  await prompt.close()
})
