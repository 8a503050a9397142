import { test } from 'tap'
import { type Finding, Findings } from '../../../src/audit/finding.ts'
import { LedgerScan } from '../../../src/audit/ledger-scan.ts'
import { addBagItems } from '../../../src/features/gifts/bag/add-bag-items.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { credit } from '../../../src/features/wallet/credit.ts'
import { Snapshot } from '../../../src/ledger/replay/snapshot.ts'
import { createTestExecutor, testChains } from '../../harness/ledger/test-executor.ts'
import { copyOf, testDatabase } from '../../harness/postgres/test-database.ts'
import { seededLedger } from '../seed-ledger.ts'
import { rechain, tamper, verifyDatabase } from '../verify-database.ts'

const changed = (position: number, change: string): string =>
  `update ledger_events set ${change} where position = ${position}`

test('an untouched ledger is clean, and so is an empty one', async (t) => {
  t.same(await verifyDatabase(await testDatabase()), { position: 0, events: 0, findings: [] })
  const database = await seededLedger()
  t.same(await verifyDatabase(database), { position: 22, events: 22, findings: [] })
  t.same(await verifyDatabase(database, 15), { position: 15, events: 15, findings: [] })
  await t.rejects(verifyDatabase(database, 23), { message: 'The ledger ends at position 22.' })
})

test('rewritten events are found, the first wrong position first', async (t) => {
  const insert = `insert into ledger_events select 23, type, version, data, debit, credit, amount, actor, at, request_id,
    idempotency_key, reply_hash, hash from ledger_events where position = 22`
  const cases: [title: string, statements: string[], first: Partial<Finding>][] = [
    ['an account', [changed(14, `credit[2] = 'user:1:target'`)], { check: 'hash', position: 14 }],
    ['data', [changed(12, `data = replace(data, '20', '21')`)], { check: 'hash', position: 12 }],
    ['who did it', [changed(8, `actor = 'staff:bob'`)], { check: 'hash', position: 8 }],
    ['a key that was added', [changed(8, `idempotency_key = 'k'`)], { check: 'hash', position: 8 }],
    ['a hash', [changed(16, `hash = repeat('a', 64)`)], { check: 'hash', position: 16 }],
    ['the first one deleted', ['delete from ledger_events where position = 1'], { check: 'order', position: 1 }],
    ['the last one deleted', ['delete from ledger_events where position = 22'], { check: 'head', position: 22 }],
    ['all deleted', ['delete from ledger_events'], { check: 'head', position: 1 }],
    ['one inserted at the end', [insert], { check: 'hash', position: 23 }],
    ['the head moved on', ['update ledger_head set position = 23'], { check: 'head', position: 23 }],
    ['the head moved very far', ['update ledger_head set position = 9e15'], { check: 'head', position: 23 }],
    [
      'the head and the last one moved very far',
      ['update ledger_events set position = 4e15 where position = 22', 'update ledger_head set position = 9e15'],
      { check: 'order', position: 22 },
    ],
    ['the head moved back', ['update ledger_head set position = 21'], { check: 'head', position: 22 }],
    ["the head's hash", [`update ledger_head set hash = repeat('b', 64)`], { check: 'head', position: 22 }],
    ["the head's time", [`update ledger_head set at = 'epoch'`], { check: 'head', position: 22 }],
    [
      'movements without an account that a list of names would hide',
      [
        changed(
          14,
          `debit = array_append(debit, null), credit = array_append(credit, null), amount = array_append(amount, null)`,
        ),
      ],
      { check: 'hash', position: 14 },
    ],
    [
      "a remembered reply's status",
      [`update replies set status = 201 where idempotency_key = 'lucky'`],
      { check: 'reply', position: 16, table: 'replies', id: 'user:1 lucky' },
    ],
  ]
  const source = await seededLedger()
  for (const [title, statements, first] of cases) {
    const database = await copyOf(source)
    await tamper(database, ...statements)
    const { findings } = await verifyDatabase(database)
    t.match(findings[0], first, title)
    t.same(
      findings.map(({ position }) => position ?? 99),
      findings.map(({ position }) => position ?? 99).sort((a, b) => a - b),
    )
  }
})

test('events that break the books are found although all hashes were recomputed', async (t) => {
  const cases: [title: string, statement: string, first: Partial<Finding>][] = [
    ['overdrawn', changed(11, `amount[1] = 20000`), { check: 'rules', message: 'user:2:diamonds is overdrawn' }],
    [
      'two currencies',
      changed(11, `credit[1] = 'issuance:operator:coins'`),
      { check: 'double-entry', message: 'user:2:diamonds and issuance:operator:coins are of different currencies' },
    ],
    [
      'no known currency',
      changed(11, `debit[1] = 'user:2:gems', credit[1] = 'house:1:gems'`),
      { check: 'double-entry', message: '"user:2:gems" is not an account' },
    ],
    ['nothing moved', changed(11, 'amount[1] = 0'), { check: 'double-entry' }],
    ['taken the wrong way', changed(11, 'amount[1] = -40'), { check: 'double-entry' }],
    ['moved more than can be', changed(11, `amount[1] = ${2n ** 53n + 1n}`), { check: 'double-entry' }],
    ['an unknown type', changed(11, `type = 'balance-doubled'`), { check: 'form' }],
    ['an unknown version', changed(11, 'version = 9'), { check: 'form' }],
    ['other data', changed(11, `data = '{}'`), { check: 'form' }],
    ['no data', changed(11, `data = ''`), { check: 'form' }],
    ['a time before the one before', changed(11, `at = '2020-01-01'`), { check: 'time' }],
  ]
  const source = await seededLedger()
  for (const [title, statement, first] of cases) {
    const database = await copyOf(source)
    await tamper(database, statement)
    await rechain(database)
    const { findings } = await verifyDatabase(database)
    t.match(findings[0], { position: 11, ...first }, title)
  }
})

test('a replay ignores an event that the rules reject', async (t) => {
  const database = await seededLedger()
  await tamper(database, changed(11, 'amount[1] = 20000'))
  t.match((await verifyDatabase(database)).findings, [
    { check: 'hash', position: 11 },
    { check: 'rules', position: 11 },
    { id: 'issuance:operator:diamonds', message: 'balance is -19960, expected -20000' },
    { id: 'user:2:diamonds', message: 'balance is 9960, expected 10000' },
  ])
})

test('an appended event with a correct hash is beyond the head', async (t) => {
  const database = await seededLedger()
  await tamper(
    database,
    `insert into ledger_events select 23, type, version, data, debit, credit, amount, actor, at, request_id,
       idempotency_key, reply_hash, hash from ledger_events where position = 22`,
  )
  await rechain(database)
  t.match((await verifyDatabase(database)).findings[0], { check: 'head', position: 23 })
})

test('a verification as of a position ignores later events', async (t) => {
  const database = await seededLedger()
  await tamper(database, changed(17, 'amount[1] = 211'))
  t.same(await verifyDatabase(database, 16), { position: 16, events: 16, findings: [] })
  t.match(await verifyDatabase(database, 17), { position: 17, findings: [{ check: 'hash', position: 17 }] })
  await tamper(database, 'delete from ledger_events where position > 10')
  t.match((await verifyDatabase(database, 12)).findings, [{ check: 'head', position: 11 }])
})

test('deleted replies, replies without events, and replies a day later under the same key are not findings', async (t) => {
  const database = await seededLedger()
  await tamper(
    database,
    `delete from replies where idempotency_key = 'lucky'`,
    `update replies set body = '{}' where idempotency_key = 'too much'`,
    `update replies set body = '{}', at = at + interval '24 hours' where idempotency_key = 'standard'`,
  )
  t.same((await verifyDatabase(database)).findings, [])
})

test('at most 20 findings are collected, and then reading stops', async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  const item = { user_id: 3, decoration_id: 1, quantity: 1, reason: 'many' }
  await Promise.all(Array.from({ length: 600 }, () => ledger.runOk(addBagItems, item)))
  t.match(await verifyDatabase(database), { position: 622, events: 622, findings: [] })
  await tamper(
    database,
    'update ledger_events set request_id = request_id || 1',
    `update replies set status = 201 where idempotency_key = 'standard'`,
  )
  const { findings, events, position } = await verifyDatabase(database)
  t.match(findings[0], { check: 'hash', position: 1 })
  t.same([findings.length, position, events], [20, 20, 20])
  t.equal(findings.filter(({ check }) => check === 'reply').length, 1)
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

test('a verification compares one snapshot while the ledger grows', async (t) => {
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
    }
  })()
  let position = 23
  let services = 0
  for (let i = 0; i < 3; i += 1) {
    let reports = 0
    const seen = await verifyDatabase(database, null, null, async () => void (reports += 1))
    t.ok(reports <= 1)
    services += reports
    t.same(seen.findings, [])
    t.ok(seen.position >= position)
    position = seen.position
  }
  over.abort()
  await writing
  t.ok(position > 23)
  t.ok(services > 0, 'the verification noticed the writing')
  await verifyDatabase(database, null, null, async () => void t.fail('nothing is written any more'))
})
