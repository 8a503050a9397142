import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { Findings } from '../../../src/audit/verify/finding.ts'
import { LedgerScan } from '../../../src/audit/verify/ledger-scan.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { Snapshot } from '../../../src/ledger/replay/snapshot.ts'
import { createTestExecutor, isReplyTo, testChains } from '../../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { seededLedger } from '../seed-ledger.ts'
import { changed, copied, keepRows, rechain, tamper, verifyDatabase } from '../verify-database.ts'

test('an untouched ledger is clean, and so is an empty one', async (t) => {
  t.same(await verifyDatabase(await testDatabase()), { position: 0, events: 0, findings: [] })
  const database = await seededLedger()
  t.same(await verifyDatabase(database), { position: 22, events: 22, findings: [] })
  t.same(await verifyDatabase(database, 15), { position: 15, events: 15, findings: [] })
  await t.rejects(verifyDatabase(database, 23), { message: 'The ledger ends at position 22.' })
})

const inData = (pattern: string, text: string): string => `data = regexp_replace(data, '${pattern}', '${text}')`

const KEPT = ['ledger_events', 'ledger_head', 'replies'] as const

test('rewritten events are found, the first wrong position first', async (t) => {
  const cases: [check: string, position: number, ...statements: string[]][] = [
    ['hash', 14, changed(14, `credit[2] = 'user:1:target'`)],
    ['hash', 12, changed(12, `data = replace(data, '20', '21')`)],
    ['hash', 8, changed(8, `actor = 'staff:bob'`)],
    ['hash', 8, changed(8, `idempotency_key = 'k'`)],
    ['hash', 16, changed(16, `hash = repeat('a', 64)`)],
    ['order', 1, 'delete from ledger_events where position = 1'],
    ['head', 22, 'delete from ledger_events where position = 22'],
    ['head', 1, 'delete from ledger_events'],
    ['hash', 23, copied(23, 22)],
    ['head', 23, 'update ledger_head set position = 23'],
    ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n].map((position): [string, number, string] => [
      'head',
      23,
      `update ledger_head set position = ${position}`,
    ]),
    ['order', 22, changed(22, 'position = 9e7'), 'update ledger_head set position = 9e15'],
    ['head', 22, 'update ledger_head set position = 21'],
    ['head', 22, `update ledger_head set hash = repeat('b', 64)`],
    ['head', 22, `update ledger_head set at = 'epoch'`],
    // Movements without an account.
    [
      'hash',
      14,
      changed(14, `debit = debit || 'nobody'::text, credit = credit || 'nobody'::text, amount = amount || 5::bigint`),
    ],
    ['reply', 16, `update replies set status = 201 where ${isReplyTo('user:1', 'lucky')}`],
    // One that follows, beyond the head.
    ['head', 23, copied(23, 22), 'rechain'],
  ]
  const database = await seededLedger()
  const restore = await keepRows(database, ...KEPT)
  for (const [check, position, ...statements] of cases) {
    await tamper(database, ...statements.filter((statement) => statement !== 'rechain'))
    if (statements.includes('rechain')) await rechain(database)
    const { findings } = await verifyDatabase(database)
    t.match(findings[0], { check, position }, statements.join('; '))
    const positions = findings.map((finding) => finding.position ?? 99)
    t.same(
      positions,
      positions.toSorted((a, b) => a - b),
    )
    await restore()
  }
  t.same((await verifyDatabase(database)).findings, [], 'all is as it was')
})

test('events that break the books or the draws are found although all hashes were recomputed', async (t) => {
  const cases: [position: number, change: string, check: string, message?: string | RegExp][] = [
    [11, 'amount[1] = 20000', 'rules', 'user:2:diamonds is overdrawn'],
    [
      11,
      `credit[1] = 'issuance:operator:coins'`,
      'double-entry',
      'user:2:diamonds and issuance:operator:coins are of different currencies',
    ],
    [11, `credit[1] = 'debt:2:diamonds'`, 'rules', 'debt:2:diamonds was paid more than was owed'],
    [11, `debit[1] = 'user:2:gems', credit[1] = 'house:1:gems'`, 'double-entry', '"user:2:gems" is not an account'],
    [11, 'amount[1] = 0', 'double-entry'],
    [11, 'amount[1] = -40', 'double-entry'],
    [11, `amount[1] = ${2n ** 53n}`, 'double-entry'],
    [11, `type = 'balance-doubled'`, 'form'],
    [11, 'version = 9', 'form'],
    [11, `data = '{}'`, 'form'],
    [11, `data = ''`, 'form'],
    [11, `at = '2020-01-01'`, 'time'],
    [7, inData('"weight":3', '"weight":1'), 'draw', /^the hash of the odds is [0-9a-f]{64}, expected /],
    [16, inData('"r":\\d', '"r":9'), 'draw', /^order 0 drew 9 and wins \d+, expected \d and /],
    [17, inData('"link":"..', '"link":"00'), 'draw', /^the hash of the link is not /],
    [19, inData('my-seed', 'no-seed'), 'draw', /^the client seed is no-seed, expected my-seed$/],
    [16, inData('"price":10', '"price":20'), 'draw', /^gift 2 had a different price or odds$/],
    [18, inData('"commitment":"..', '"commitment":"00'), 'draw', /^chain 1-2 was announced with /],
  ]
  const database = await seededLedger()
  const restore = await keepRows(database, ...KEPT)
  for (const [position, change, check, message] of cases) {
    await tamper(database, changed(position, change))
    await rechain(database)
    const { findings } = await verifyDatabase(database)
    t.match(findings[0], { position, check, ...(message !== undefined && { message }) }, change)
    await restore()
  }
})

test('a verification as of a position ignores later events', async (t) => {
  const database = await seededLedger()
  await tamper(database, changed(17, 'amount[1] = 211'))
  t.same(await verifyDatabase(database, 16), { position: 16, events: 16, findings: [] })
  t.match(await verifyDatabase(database, 17), { position: 17, findings: [{ check: 'hash', position: 17 }] })
  await tamper(database, 'delete from ledger_events where position > 10')
  t.match((await verifyDatabase(database, 12)).findings, [{ check: 'head', position: 11 }])
})

test('findings about replies do not hide wrong events of the same page', async (t) => {
  const database = await seededLedger()
  await tamper(database, changed(14, `amount[2] = 78`))
  await using snapshot = new AsyncDisposableStack()
  const events = snapshot.adopt(await Snapshot.connect(database.serviceUrl), (open) => open.close())
  const findings = new Findings()
  const options = { progress: () => {}, signal: new AbortController().signal }
  const reading = await LedgerScan.start(events, await events.head(), findings, options)
  const replies = Array.from({ length: 20 }, (_, i) => ({ check: 'reply', position: i + 1, message: '' }) as const)
  await reading.scanUpTo(22, async () => replies)
  await reading.drain()
  await reading.close()
  t.ok(findings.sorted().some(({ check, position }) => check === 'hash' && position === 14))
})

test('a verification compares one snapshot while the ledger grows', { skip: onlyInFullRun }, async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  // So that writing lasts as long as the verifications, which rest while it does.
  await ledger.runOk(credit, { user_id: 2, currency: 'diamonds', amount: 10_000_000, reason: 'many' })
  const send = sendGift({ chains: testChains, ownerPercent: 5 })
  const over = new AbortController()
  const writing = (async () => {
    while (!over.signal.aborted) {
      const gift = { caller_id: 2, sender_id: 2, decoration_id: 2, receiver_ids: [1, 3], quantity: 1, room: 9 }
      await ledger.runOk(send, { ...gift, from_bag: false, encrypted: true })
      await pause(5)
    }
  })()
  let position = 23
  for (let i = 0; i < 2; i += 1) {
    const seen = await verifyDatabase(database)
    t.same(seen.findings, [])
    t.ok(seen.position >= position)
    position = seen.position
  }
  over.abort()
  await writing
  t.ok(position > 23)
})
