import { createHash } from 'node:crypto'
import { test } from 'tap'
import { readEvent } from '../../../src/audit/reports/events/read-event.ts'
import { type EventFilter, searchEvents } from '../../../src/audit/reports/events/search-events.ts'
import { listStaffActs } from '../../../src/audit/reports/events/staff-acts.ts'
import { searchAll } from '../../../src/audit/reports/search.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-writer.ts'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import type { LedgerEntry } from '../../../src/ledger/storage/event-hash.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { addIdleEvents, grownLedger, indexUpTo, readLedger } from '../../ledger/indexes/index-fixture.ts'
import { seededLedger } from '../seed-ledger.ts'

/** Whether an event passes a filter, by the plainest means. */
function passes(entry: LedgerEntry, { type, actor, user, account, requestId, idempotencyKey }: EventFilter): boolean {
  const sides = entry.movements.flatMap(({ debit, credit }) => [debit, credit])
  return (
    (type === undefined || entry.type === type) &&
    (actor === undefined || entry.actor === actor) &&
    (account === undefined || sides.includes(account)) &&
    (requestId === undefined || entry.requestId === requestId) &&
    (idempotencyKey === undefined || entry.idempotencyKey === idempotencyKey) &&
    (user === undefined ||
      entry.actor === `user:${user}` ||
      sides.some((side) => side.startsWith(`user:${user}:`)) ||
      usersIn(JSON.parse(entry.data)).includes(user))
  )
}

function usersIn(data: Record<string, unknown>): unknown[] {
  return Object.entries(data).flatMap(([name, value]) => {
    if (/(user|sender|receiver|creator|winner|owner|target|beneficiary)_id$/.test(name)) return [value]
    return /(user|receiver|player|loser)_ids$/.test(name) && Array.isArray(value) ? value : []
  })
}

test('events are found newest first, page by page, whatever the filter and wherever the index ends', async (t) => {
  const database = await grownLedger()
  await indexUpTo(database, 700)
  const db = readDb(t, database)
  const entries = await readLedger(database)
  const upTo = entries.length - 3
  const newest = entries.filter(({ position }) => position <= upTo).toReversed()
  const keyed = entries.find(({ idempotencyKey }) => idempotencyKey !== null)
  const filters: EventFilter[] = [
    {},
    ...['gift-sent', 'user-defined', 'no-such'].map((type) => ({ type })),
    ...[1, 3, 9, 99].map((user) => ({ user })),
    ...['user:2', 'staff:ann', 'system', 'user:%'].map((actor) => ({ actor })),
    ...['user:1:diamonds', 'house:gifts:diamonds', 'user:99:coins'].map((account) => ({ account })),
    { user: 2, type: 'balance-credited' },
    { account: 'user:2:diamonds', type: 'gift-drawn', actor: 'user:1' },
    { account: 'house:gifts:diamonds', user: 3 },
    { requestId: entries[900]?.requestId },
    { requestId: entries[900]?.requestId, account: 'user:1:diamonds' },
    { idempotencyKey: keyed?.idempotencyKey ?? '' },
  ]
  const compare = async (): Promise<void> => {
    const offenders: string[] = []
    for (const filter of filters) {
      for (const { first, last, limit } of [
        { first: 1, last: upTo, limit: 101 },
        { first: 333, last: 1_134, limit: 37 },
        { first: 600, last: 500, limit: 5 },
      ]) {
        const found: number[] = []
        let before: number | undefined
        do {
          const page = await searchEvents(db, { ...filter, first, last, upTo, before, limit })
          found.push(...page.events.map(({ position }) => position))
          if (page.events.length > limit) offenders.push(`more than ${limit}`)
          before = page.next ?? undefined
        } while (before !== undefined)
        const expected = newest.filter(
          (entry) => entry.position >= first && entry.position <= last && passes(entry, filter),
        )
        if (found.join() !== expected.map(({ position }) => position).join())
          offenders.push(JSON.stringify({ filter, first, last }))
      }
    }
    t.strictSame(offenders, [])
  }
  await compare()
  await indexUpTo(database, 1_100)
  await compare()
  await indexUpTo(database, entries.length)
  await compare()
})

test('events with two frequent facts are found in all parts of the index', async (t) => {
  const database = await grownLedger()
  await addIdleEvents(database, 5_000)
  const entries = await readLedger(database)
  await indexUpTo(database, entries.length)
  const { type = '', actor } = entries.at(-1) ?? {}
  const db = readDb(t, database)
  const { events } = await searchEvents(db, { type, actor, upTo: entries.length, limit: 10_000 })
  t.same(
    events.map(({ position }) => position),
    entries
      .filter((entry) => passes(entry, { type, actor }))
      .map(({ position }) => position)
      .toReversed(),
  )
})

test('an event is shown with the bytes of its hash, its command and what it made', async (t) => {
  const database = await seededLedger()
  const db = readDb(t, database)
  const entries = await readLedger(database)
  for (const [i, entry] of entries.entries()) {
    const details = await readEvent(db, entry.position)
    t.same(details?.entry, entry)
    t.equal(
      createHash('sha256')
        .update(details?.hashedText ?? '')
        .digest('hex'),
      entry.hash,
    )
    t.equal(details?.previousHash, entries[i - 1]?.hash ?? '0'.repeat(64))
    t.equal(details?.next?.entry.position, entries[i + 1]?.position)
    t.equal(details?.next?.previousHash, entries[i + 1] && entry.hash)
    const command = entries.filter(({ requestId }) => requestId === entry.requestId)
    t.same(details?.command, command, `the command of ${entry.position}`)
    const drawn = { kind: 'draw', id: entry.position, isNew: true }
    t.same(details?.subjects, entry.type === 'gift-drawn' ? [drawn] : [], entry.type)
  }
  t.ok(entries.some(({ type }) => type === 'gift-drawn'))
  t.equal(await readEvent(db, entries.length + 1), undefined)
})

test('acts of staff are listed newest first with their reasons, and found by an index of their own', async (t) => {
  const database = await grownLedger()
  await indexUpTo(database, 1_000)
  const db = readDb(t, database)
  const entries = await readLedger(database)
  const upTo = entries.length - 5
  const expected = entries.filter(({ actor, position }) => actor.startsWith('staff:') && position <= upTo).toReversed()
  for (const sub of [undefined, 'ann']) {
    const found: unknown[] = []
    let before: number | undefined
    do {
      const page = await listStaffActs(db, { sub, before, limit: 13, upTo })
      found.push(...page.acts.map(({ sub: who, reason, entry }) => [who, reason, entry.position]))
      before = page.next ?? undefined
    } while (before !== undefined)
    t.ok(found.length > 13)
    t.same(
      found,
      expected.map(({ data, position }) => ['ann', JSON.parse(data).reason, position]),
    )
  }
  t.same((await listStaffActs(db, { sub: 'bob', limit: 5, upTo })).acts, [])
  const client = await openClient(t, database.ownerUrl)
  await client.query('set enable_seqscan = off')
  const plan = await client.query(
    "explain select from ledger_events where actor like 'staff:%' order by position desc limit 5",
  )
  t.match(JSON.stringify(plan.rows), /Index/)
  t.notMatch(JSON.stringify(plan.rows), /Filter/, 'all of them are acts of staff')
})

test('one text finds users, rooms, accounts, positions, requests, keys, orders', async (t) => {
  const database = await grownLedger()
  await indexUpTo(database, BLOCK_EVENTS)
  await queryRows(
    database,
    `delete from user_profiles where user_id = 2;
     insert into user_profiles values (2, 'bella', 'Ända <b>', '', now(), now(), 'x', 'bella', 'ända <b>');
     delete from room_profiles where room_id = 9;
     insert into room_profiles values (9, 'R9', 'Lounge', '', now(), now(), 'x', 'r9', 'lounge')`,
  )
  const ledger = createTestExecutor(t, database.serviceUrl)
  const named = { user_id: 2, currency: 'coins', amount: 1, reason: 'a key like a gift' } as const
  await ledger.run(credit, named, { actor: 'staff:ann', key: 'gift 1' })
  const db = readDb(t, database)
  const entries = await readLedger(database)
  const drawn = entries.find(({ type }) => type === 'gift-drawn')
  const keyed = entries.find(({ idempotencyKey }) => idempotencyKey === 'lucky')
  const ends = { head: entries.length, searched: entries.length }
  const find = async (q: string) => (await searchAll(db, q, ends)).map(({ kind, id }) => `${kind} ${id}`)
  t.same(await find('2'), ['user 2', 'event 2'])
  t.same(await find('BELLA'), ['user 2'])
  t.same(await find(' änd'), ['user 2'])
  t.same(await find('9'), ['room 9', 'event 9'])
  t.same(await find('loun'), ['room 9'], 'by the beginning of its name')
  t.same(await find('r9'), ['room 9', 'request r9'])
  t.same(await find('R9'), ['room 9'])
  t.same(await find('user:3:target'), ['account user:3:target'])
  t.ok((await find('house:')).includes('account house:gifts:diamonds'))
  t.same(await find(`${drawn?.position}-0`), [`order ${drawn?.position}-0`])
  t.same(await find(keyed?.requestId ?? ''), [`request ${keyed?.requestId}`])
  t.same(await find('lucky'), ['key lucky'])
  t.same(await find('user 2'), ['user 2'])
  t.same(await find('event 2'), ['event 2'])
  t.same(await find('Event #2'), ['event 2'])
  t.same(await find(`draw ${drawn?.position}`), [`draw ${drawn?.position}`])
  t.same(await find('gift 1'), ['gift 1', 'key gift 1'], 'and what is called so')
  t.same(await find('1'), ['user 1', 'event 1'], 'a gift only by its number with the word')
  t.same(await find('ros'), ['gift 1'])
  t.same(await find('clover'), ['gift 2'])
  t.same(await find('ann'), ['staff ann'])
  t.same(await find('staff:Ann'), ['staff ann'])
  const month = isoMicros(entries.at(-1)?.at ?? 0).slice(0, 7)
  t.same(await find(month), [`month ${month}`])
  t.same(await find('2020-01'), [], 'before the first event')
  t.same(await find('2999-01'), [], 'a month to come')
  for (const nothing of [
    'withdrawal 2',
    'proposal 2',
    'game 2',
    'constructor 2',
    'event 0',
    'gift 9999',
    'zed',
    '',
    ' ',
    '%',
    '0',
    '-1',
    '99999999999999999999',
    `1-0`,
    'no:thing',
    'x'.repeat(300),
    "'\u0000",
  ]) {
    t.same(await find(nothing), [], JSON.stringify(nothing))
  }
})
