import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { type Finding, Findings } from '../../../src/audit/finding.ts'
import { LedgerScan } from '../../../src/audit/ledger-scan.ts'
import { compareTable } from '../../../src/audit/verify/compare-table.ts'
import { WorkerRowVerifier } from '../../../src/audit/verify/row-verifier/worker-row-verifier.ts'
import type { Page } from '../../../src/db/copy-out.ts'
import { tables } from '../../../src/domain.ts'
import { addBagItems } from '../../../src/features/gifts/bag/add-bag-items.ts'
import { credit } from '../../../src/features/wallet/credit.ts'
import { Snapshot } from '../../../src/ledger/replay/snapshot.ts'
import { balances } from '../../../src/ledger/rules/account.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'
import { seedLedger, withOwnExecutors } from '../seed-ledger.ts'
import { rechain, tamper, verifyDatabase } from '../verify-database.ts'

// What is checked of an event is checked in two halves; of a long ledger one of them in a thread of its own.

interface Test {
  teardown(work: () => Promise<void>): void
}

/** Reads a ledger as if it were as long as `taken`. */
async function read(t: Test, { serviceUrl }: TestDatabase, taken: number) {
  const snapshot = await Snapshot.connect(serviceUrl)
  t.teardown(() => snapshot.close())
  const head = await snapshot.head()
  const findings = new Findings()
  const options = { progress: () => {}, signal: new AbortController().signal }
  const reading = await LedgerScan.start(snapshot, { ...head, position: taken }, findings, options)
  t.teardown(() => reading.close())
  await reading.scanUpTo(head.position)
  await reading.drain()
  return { reading, findings }
}

const here = 1
const aside = 1_000_000

const changed = (position: number, change: string): string =>
  `update ledger_events set ${change} where position = ${position}`

test('what both halves find is told once and in order, wherever they work', async (t) => {
  const database = await testDatabase(t)
  await withOwnExecutors((inner) => seedLedger(inner, database))
  const sound = await read(t, database, aside)
  t.same([sound.findings.sorted(), sound.reading.count, sound.reading.last.position], [[], 22, 22])

  await tamper(
    database,
    changed(3, `type = 'user-doubled'`),
    changed(
      9,
      'debit = array_append(debit, null), credit = array_append(credit, null), amount = array_append(amount, null)',
    ),
    changed(11, 'amount[1] = 20000'),
    changed(14, `credit[2] = 'user:1:coins'`),
    changed(16, `data = regexp_replace(data, '"r":\\d', '"r":9')`),
    changed(19, `at = '2020-01-01'`),
    'delete from ledger_events where position = 21',
  )
  const told: (readonly (readonly [number | null, string])[])[] = []
  for (const where of [here, aside]) {
    const { findings, reading } = await read(t, database, where)
    told.push(findings.sorted().map(({ position, check }) => [position, check] as const))
    t.same([reading.count, reading.last.position], [21, 22])
  }
  t.same(told[1], told[0])
  t.same(told[0], [
    [3, 'hash'],
    [3, 'form'],
    [9, 'hash'],
    [9, 'double-entry'],
    [11, 'hash'],
    [11, 'rules'],
    [14, 'hash'],
    [14, 'double-entry'],
    [16, 'hash'],
    [16, 'draw'],
    [19, 'hash'],
    [19, 'time'],
    [21, 'order'],
    // The room has nothing: what brought it in is left out.
    [22, 'rules'],
  ])
})

test('a column that cannot be read is told once', async (t) => {
  const database = await testDatabase(t)
  await withOwnExecutors((inner) => seedLedger(inner, database))
  const cases: [change: string, message: RegExp][] = [
    [`at = 'infinity'`, /^event 12 has a time outside the years 1 to 9999$/],
    [`at = '0044-03-15 BC'`, /^event 12 has a time outside the years 1 to 9999$/],
    [
      `debit = '[0:0]={user:1:coins}', credit = '{user:2:coins}', amount = '{1}'`,
      /^event 12 has no one-dimensional array of debits$/,
    ],
    [`credit = '{user:2:coins}'`, /^event 12 has different numbers of debits, credits and amounts$/],
    ['actor = null', /^event 12 has no actor$/],
    ['data = null', /^event 12 has no data$/],
  ]
  await tamper(
    database,
    'alter table ledger_events drop constraint ledger_events_check',
    'alter table ledger_events alter actor drop not null, alter data drop not null',
    'create table kept as select * from ledger_events where position = 12',
  )
  for (const [change, message] of cases) {
    await tamper(database, changed(12, change))
    const { findings } = await read(t, database, here)
    const [first, ...more] = findings.sorted().filter(({ position }) => position === 12)
    t.match(first, { check: 'form', message }, change)
    t.same(more, [])
    await tamper(
      database,
      'delete from ledger_events where position = 12',
      'insert into ledger_events select * from kept',
    )
  }
})

test('when there are findings enough, both halves stop at the same event', async (t) => {
  const database = await testDatabase(t)
  await withOwnExecutors(async (inner) => {
    await seedLedger(inner, database)
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    const item = { user_id: 3, decoration_id: 1, quantity: 1, reason: 'many' }
    await Promise.all(Array.from({ length: 4_000 }, () => runOk(addBagItems, item)))
  })
  await tamper(database, `update ledger_events set data = '{}' where position > 1000`)
  for (const where of [here, aside]) {
    const { findings, reading } = await read(t, database, where)
    // Two of each: its hash, and its form.
    t.same(findings.cutoff, { position: 1010, events: 1010 })
    t.equal(findings.sorted().length, 20)
    t.ok(reading.count < 3_000, `${reading.count} events were looked at`)
  }
  await rechain(database)
  for (const where of [here, aside]) {
    const { findings } = await read(t, database, where)
    t.same(findings.cutoff, { position: 1020, events: 1020 }, 'when only one of them finds something')
  }
})

const script = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`)
const never = new AbortController().signal
const page = (length: number): Page => Buffer.alloc(length)

test('a thread that dies is an error and no verdict', async (t) => {
  const dying: [text: string, message: RegExp][] = [
    ['process.exit(0)', /ended before it was done/],
    [`throw new Error('no memory')`, /no memory/],
    [`require('node:worker_threads').parentPort.on('message', () => { throw new Error('at work') })`, /at work/],
  ]
  for (const [text, message] of dying) {
    const chain = new WorkerRowVerifier(() => {}, never, script(text.replace('require(', 'process.getBuiltinModule(')))
    await chain.submit(page(4)).catch(() => {})
    await t.rejects(chain.drain(), { message })
    await t.rejects(chain.submit(page(4)), { message })
    await t.rejects(chain.takeBalances(), { message })
    await chain.close()
  }
})

test('whoever gives up waits for no thread', async (t) => {
  const giving = new AbortController()
  const chain = new WorkerRowVerifier(() => {}, giving.signal, script('setInterval(() => {}, 1000)'))
  await chain.submit(page(4))
  const settled = chain.drain()
  giving.abort(new Error('ended by SIGINT'))
  await t.rejects(settled, { message: 'ended by SIGINT' })
  await t.rejects(chain.takeBalances(), { message: 'ended by SIGINT' })
  await chain.close()
})

/** What differs between all tables and what was read. */
async function differences(database: TestDatabase, reading: LedgerScan): Promise<readonly Finding[]> {
  const snapshot = await Snapshot.open(database.serviceUrl)
  const found: Finding[] = []
  for (const table of tables.filter(({ source }) => source === 'ledger')) {
    found.push(...(await compareTable(snapshot, table, reading.rows, async () => {})))
  }
  await snapshot.close()
  return found
}

test('all rows are in one place in the end, and go on there', async (t) => {
  const database = await testDatabase(t)
  await withOwnExecutors((inner) => seedLedger(inner, database))
  for (const where of [here, aside]) {
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

test('what is against an event’s meaning, or cannot be read of it, makes no balance wrong', async (t) => {
  const database = await testDatabase(t)
  await withOwnExecutors((inner) => seedLedger(inner, database))
  await tamper(
    database,
    'alter table ledger_events alter hash drop not null, alter actor drop not null, alter request_id drop not null',
    'create table kept as select * from ledger_events where position = 8',
  )
  const cases: [change: string, told: unknown[]][] = [
    [
      'hash = null',
      [
        [8, 'form'],
        [9, 'hash'],
      ],
    ],
    ['actor = null', [[8, 'form']]],
    ['request_id = null', [[8, 'form']]],
    [
      `data = '{}'`,
      [
        [8, 'hash'],
        [8, 'form'],
      ],
    ],
  ]
  for (const [change, told] of cases) {
    await tamper(database, changed(8, change))
    const { findings } = await verifyDatabase(database)
    t.same(
      findings.map(({ position, check }) => [position, check]),
      told,
      change,
    )
    await tamper(
      database,
      'delete from ledger_events where position = 8',
      'insert into ledger_events select * from kept',
    )
  }
})

test('whoever reads faster than the thread waits for it', async (t) => {
  const answering = `
    const { parentPort } = process.getBuiltinModule('node:worker_threads')
    let held = []
    parentPort.on('message', (task) => {
      const last = { position: 1, hash: '', at: 0 }
      parentPort.postMessage({ type: "page-result", result: { findings: [], last, durationMs: task.page.length } })
    })`
  const heard: number[] = []
  const silent = new WorkerRowVerifier(() => {}, never, script('setInterval(() => {}, 1000)'))
  let handed = 0
  const handing = (async () => {
    for (; handed < 1000; handed += 1) await silent.submit(page(4))
  })()
  await until(() => handed >= 128)
  await sleep(100)
  t.equal(handed, 128)
  await silent.close()
  await t.rejects(handing, /ended before it was done/)

  const prompt = new WorkerRowVerifier(({ durationMs: took }) => heard.push(took), never, script(answering))
  for (let i = 1; i <= 100; i += 1) await prompt.submit(page(i))
  await prompt.drain()
  t.same(
    heard,
    Array.from({ length: 100 }, (_, i) => i + 1),
  )
  await prompt.close()
})
