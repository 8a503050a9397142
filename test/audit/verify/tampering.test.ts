import { test } from 'tap'
import { type Finding, formatFinding } from '../../../src/audit/verify/finding.ts'
import { requestWithdrawal } from '../../../src/features/agency/withdrawals/request-withdrawal.ts'
import { addBagItems } from '../../../src/features/gifts/bag.ts'
import { grantCards } from '../../../src/features/privilege/card.ts'
import { definePackage } from '../../../src/features/privilege/package.ts'
import { defineCountry } from '../../../src/features/users/country.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { recordRestore } from '../../../src/ledger/rules/incarnation.ts'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { createTestExecutor, isReplyTo, queryRows } from '../../harness/ledger/test-executor.ts'
import { copyOf, type TestDatabase } from '../../harness/postgres/test-database.ts'
import { sealAt, verifyFully } from '../seal-ledger.ts'
import { seededLedger, withOwnExecutors } from '../seed-ledger.ts'
import { changed, copied, keepRows, rebuildTables, rechain, tamper, verifyDatabase } from '../verify-database.ts'

// Whatever the owner of the database changes with the guards off, a verification finds it, and where it begins.

const cash = { type: 'cash', beneficiary_id: null, country_id: 1, agent_benefit: false, details: null } as const

let made: Promise<TestDatabase> | null = null

/** The 22 events of `seedLedger`, then a card of user 1 (position 25) and a request of user 2 (position 26); not changed. */
function books(): Promise<TestDatabase> {
  made ??= seededLedger(async (t, database) => {
    const { runOk } = createTestExecutor(t, database.serviceUrl)
    await runOk(defineCountry, { id: 1, name: 'Egypt' })
    await runOk(defineUsers, { listed: true, users: [{ id: 3, business_manager: true }] })
    await runOk(definePackage, { privilege_package_id: 1, name: 'Silver', rank: 1, valid_days: 30 })
    await runOk(grantCards, { user_id: 1, privilege_package_id: 1, quantity: 1, reason: 'prize' })
    await runOk(requestWithdrawal(null), { ...cash, caller_id: 2, target_id: 3, amount: 500 })
  })
  return made
}

/** A checkpoint of the ledger as it is now. */
async function checkpointOf(database: TestDatabase) {
  const [head] = await queryRows(database, 'select position, hash from ledger_head')
  return { position: Number(head?.['position']), hash: String(head?.['hash']), at: isoMicros(0) }
}

const KEPT = ['ledger_events', 'ledger_head', 'replies', 'balances', 'privilege_cards', 'withdrawals', 'odds_tables']
const swapped = [changed(8, 'position = 100'), changed(9, 'position = 8'), changed(100, 'position = 9')]

type Tampering = readonly [first: Partial<Finding>, ...statements: string[]]

/** What is found in any case, on a ledger that ends at a position. */
function tamperings(end: number): readonly Tampering[] {
  const projection = (table: string, id: string, message: string): Partial<Finding> => ({
    check: 'projection',
    position: null,
    table,
    id,
    message,
  })
  return [
    [{ check: 'hash', position: 14 }, changed(14, 'amount[2] = 78')],
    [{ check: 'order', position: 12 }, 'delete from ledger_events where position = 12'],
    [{ check: 'hash', position: 8 }, ...swapped],
    [
      { check: 'hash', position: 11 },
      'update shown_events set position = -position + 1000 where position > 10',
      'update shown_events set position = 1001 - position where position > 100',
      copied(11, 10),
      `update ledger_head set position = ${end + 1}`,
    ],
    [{ check: 'hash', position: 17 }, changed(17, `at = at + interval '1 microsecond'`)],
    [{ check: 'head', position: 24 }, 'delete from ledger_events where position > 23'],
    [
      projection('balances', 'user:1:diamonds', 'balance is 9742, expected 9741'),
      `update balances set balance = balance + 1 where account = 'user:1:diamonds'`,
    ],
    [projection('privilege_cards', '25', 'owner_id is 2, expected 1'), 'update privilege_cards set owner_id = 2'],
    [
      projection('withdrawals', '26', 'status is rejected, expected pending'),
      `update withdrawals set status = 'rejected'`,
    ],
    [
      { check: 'reply', position: 14, table: 'replies', id: 'user:1 standard' },
      `update replies set body = replace(body, '9846', '99846') where ${isReplyTo('user:1', 'standard')}`,
    ],
    [
      { check: 'reply', position: 14, message: 'another reply is stored under its key' },
      `insert into replies select key, request_hash, at + interval '1 day', status, '{}' from replies
       where ${isReplyTo('user:1', 'standard')}`,
    ],
    [
      { check: 'reply', position: 14, message: 'the stored reply is missing' },
      `delete from replies where ${isReplyTo('user:1', 'standard')}`,
    ],
    // After the draws.
    [
      { check: 'projection', position: null, table: 'odds_tables' },
      `update odds_tables set odds = replace(odds, '"weight":3', '"weight":4')`,
    ],
  ]
}

test('all kinds of tampering are found', async (t) => {
  const sound = await books()
  const checkpoint = await checkpointOf(sound)
  t.same(await verifyDatabase(sound, null, checkpoint), { position: 26, events: 26, findings: [] })

  const forged = await copyOf(sound)
  const restore = await keepRows(forged, ...KEPT)
  for (const [first, ...statements] of tamperings(26)) {
    await tamper(forged, ...statements)
    t.match((await verifyDatabase(forged)).findings[0], first, statements.join('; '))
    await restore()
  }

  await tamper(forged, changed(11, 'amount[1] = 39'))
  await rechain(forged)
  await rebuildTables(forged)
  t.same(
    (await verifyDatabase(forged)).findings,
    [],
    'hashes, head and tables that all fit cannot be distinguished from others',
  )
  t.match(
    (await verifyDatabase(forged, null, checkpoint)).findings,
    [{ check: 'checkpoint', position: 26, message: /^history up to here was rewritten: / }],
    'a hash recomputed from there on',
  )
})

test('all kinds are found from a seal before what was changed', async (t) => {
  const folder = temporaryFolder(t)
  const forged = await copyOf(await books())
  const checkpoint = await checkpointOf(forged)
  await sealAt(forged, folder, 7)
  const restore = await keepRows(forged, ...KEPT)
  t.same(await verifyDatabase(forged, null, null, folder), { position: 27, events: 20, findings: [], seal: 7 })
  for (const [first, ...statements] of tamperings(27)) {
    await tamper(forged, ...statements)
    t.match((await verifyDatabase(forged, null, null, folder)).findings[0], first, statements.join('; '))
    await restore()
  }
  await tamper(forged, changed(11, 'amount[1] = 39'))
  await rechain(forged)
  await rebuildTables(forged)
  t.match(await verifyDatabase(forged, null, checkpoint, folder), {
    seal: 7,
    findings: [{ check: 'checkpoint', position: 26, message: /^history up to here was rewritten: / }],
  })
})

test('after a seal, changed tables are found from it, and all kinds from the first event', async (t) => {
  const folder = temporaryFolder(t)
  const forged = await copyOf(await books())
  const checkpoint = await checkpointOf(forged)
  await sealAt(forged, folder, 26)
  const restore = await keepRows(forged, ...KEPT)
  for (const [first, ...statements] of tamperings(27)) {
    await tamper(forged, ...statements)
    t.match((await verifyFully(forged, folder)).findings[0], first, statements.join('; '))
    if (first.check === 'projection')
      t.match(await verifyDatabase(forged, null, null, folder), { seal: 26, findings: [first] }, statements.join('; '))
    await restore()
  }
  await tamper(forged, changed(11, 'amount[1] = 39'))
  await rechain(forged)
  await rebuildTables(forged)
  const { findings } = await verifyDatabase(forged, null, checkpoint, folder)
  t.match(findings[0], { check: 'checkpoint', position: 26, message: /^history up to here was rewritten: / })
})

test('a checkpoint reveals a tail that was cut without traces, and an old backup', async (t) => {
  const backup = await books()
  const database = await copyOf(backup)
  await withOwnExecutors(async (inner) => {
    const item = { user_id: 3, decoration_id: 1, quantity: 1, reason: 'later' }
    await createTestExecutor(inner, database.serviceUrl).runOk(addBagItems, item)
  })
  const checkpoint = await checkpointOf(database)
  t.equal(checkpoint.position, 27)
  t.same((await verifyDatabase(database, null, checkpoint)).findings, [])
  t.same((await verifyDatabase(backup)).findings, [])
  t.match((await verifyDatabase(backup, null, checkpoint)).findings, [
    { check: 'checkpoint', position: 27, message: /^is missing; the ledger reached position 27 when / },
  ])
  await t.rejects(verifyDatabase(backup, 20, checkpoint), {
    message: 'The checkpoint is of position 27, beyond --as-of 20.',
  })
})

test('a checkpoint that the ledger says it lost is named with the event that says so', async (t) => {
  const database = await copyOf(await books())
  const lost = { ...(await checkpointOf(database)), position: 28, hash: 'f'.repeat(64) }
  await withOwnExecutors(async (inner) => {
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    const give = () => runOk(addBagItems, { user_id: 3, decoration_id: 1, quantity: 1, reason: 'later' })
    await runOk(recordRestore, { incarnation: 'f'.repeat(32), reason: 'test', last_known: null })
    const finding = {
      check: 'lost_by_restore',
      position: 27,
      message: /^position 28 of the checkpoint of 1970-.+ is lost: the ledger went back before this event of 20/,
    }
    t.match((await verifyDatabase(database, null, lost)).findings, [finding], 'beyond the end')
    await give()
    t.match((await verifyDatabase(database, null, lost)).findings, [finding], 'where another event is now')
    await runOk(recordRestore, { incarnation: 'e'.repeat(32), reason: 'test', last_known: null })
    t.match((await verifyDatabase(database, null, lost)).findings, [finding], 'after a further restore')
    const later = { ...lost, at: '9999-12-31T00:00:00.000000Z' }
    t.match((await verifyDatabase(database, null, later)).findings, [{ check: 'checkpoint', position: 28 }])
    const earlier = { ...lost, position: 26 }
    t.match((await verifyDatabase(database, null, earlier)).findings, [{ check: 'checkpoint', position: 26 }])
    t.same((await verifyDatabase(database, null, await checkpointOf(database))).findings, [])
  })
})

test('a seal after commits were lost hides no loss from an earlier checkpoint', async (t) => {
  const folder = temporaryFolder(t)
  const database = await copyOf(await books())
  const lost = { ...(await checkpointOf(database)), position: 28, hash: 'f'.repeat(64) }
  await withOwnExecutors(async (inner) => {
    const { runOk } = createTestExecutor(inner, database.serviceUrl)
    await runOk(recordRestore, { incarnation: 'f'.repeat(32), reason: 'test', last_known: null })
    await runOk(addBagItems, { user_id: 3, decoration_id: 1, quantity: 1, reason: 'later' })
  })
  await sealAt(database, folder, 28)
  t.match(await verifyDatabase(database, null, lost, folder), {
    seal: 28,
    findings: [{ check: 'lost_by_restore', position: 27 }],
  })
})

test('two rows cannot have the same hashed bytes', async (t) => {
  const sound = await books()
  for (const packed of [
    `movements = replace(movements, ',', ';igiftst>')`,
    `movements = regexp_replace(movements, ' ', ' 0')`,
    `request_id = '\\x00' || request_id`,
    `idempotency_key = '\\x00' || idempotency_key`,
    `data = (select data from ledger where position = 14)`,
    `data = replace(data, ',', ', ')`,
  ]) {
    const other = await copyOf(sound)
    await tamper(other, `update ledger_events set ${packed} where position = 14`)
    t.match((await verifyDatabase(other)).findings, [{ position: 14, check: /^(form|hash)$/ }], packed)
    await t.rejects(rebuildTables(other), { message: /^The ledger is not sound\. position 14: / })
  }
  for (const column of ['idempotency_key', 'reply_hash']) {
    const emptied = await copyOf(sound)
    await tamper(emptied, `update shown_events set ${column} = '' where ${column} is null`)
    t.match((await verifyDatabase(emptied)).findings[0], {
      check: 'form',
      position: 1,
      message: `event 1 has an empty ${column}`,
    })
  }
})

test('columns that the owner let be null are findings', async (t) => {
  const sound = await books()
  for (const column of ['type', 'version', 'data', 'movements', 'request_id', 'hash']) {
    const other = await copyOf(sound)
    await tamper(
      other,
      `alter table ledger_events alter ${column} drop not null`,
      `update ledger_events set ${column} = null where position = 14`,
    )
    t.match((await verifyDatabase(other)).findings[0], { check: 'form', position: 14 }, column)
  }
})

test('a cursor beyond the end and a type without an event are found, and a rebuild removes them', async (t) => {
  const database = await copyOf(await books())
  const [{ position } = {}] = await queryRows(database, 'select position from ledger_head')
  const end = Number(position)
  await tamper(
    database,
    `insert into ledger_cursors values ('live', ${end}), ('push', ${end + 1}), ('indexes', 2560000)
     on conflict (name) do update set position = excluded.position`,
    `insert into event_types values ('free-money', 1, '{user_id}'), ('gift-sent', 2, '{user_id}')`,
  )
  t.same((await verifyDatabase(database)).findings.map(formatFinding), [
    'projection: event_types free-money:1: the ledger has no such event',
    'projection: event_types gift-sent:2: the ledger has no such event',
    `projection: ledger_cursors push: position is ${end + 1}, beyond the end of the ledger, ${end}`,
    'projection: ledger_cursors indexes: position is 2560000, which no block of the ledger ends at',
  ])
  await rebuildTables(database)
  t.same((await verifyDatabase(database)).findings, [])
  const cursors = await queryRows(database, 'select name, position from ledger_cursors order by 1')
  t.same(
    cursors.map((row) => Object.values(row)),
    [
      ['indexes', '0'],
      ['live', `${end}`],
      ['push', `${end}`],
    ],
  )
})

test('the names that data is shown by are compared with those that it was packed by, and written again', async (t) => {
  const database = await copyOf(await books())
  await tamper(
    database,
    `update event_types set fields = fields[2:] || fields[1] where type = 'gift-sent'`,
    `delete from event_types where type = 'balance-credited'`,
  )
  const finding = { check: 'projection', position: null, table: 'event_types' }
  t.match((await verifyDatabase(database)).findings, [
    {
      ...finding,
      id: 'gift-sent:1',
      message: /^fields is \{receiver_ids,.+,sender_id\}, expected \{sender_id,receiver_ids,/,
    },
    { ...finding, id: 'balance-credited:1', message: 'the row is missing from the table' },
  ])
  await rebuildTables(database)
  t.same((await verifyDatabase(database)).findings, [])
})
