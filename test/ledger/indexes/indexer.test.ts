import { setTimeout as pause } from 'node:timers/promises'
import * as fc from 'fast-check'
import { test } from 'tap'
import { connect } from '../../../src/db/connect.ts'
import { channelName } from '../../../src/db/ledger-url.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { PageReader, PageWriter } from '../../../src/ledger/indexes/index-pages.ts'
import { eventsWith, readLast, readSums } from '../../../src/ledger/indexes/index-reads.ts'
import {
  accountTerm,
  factTerm,
  isAccountTerm,
  type Term,
  type TermKind,
} from '../../../src/ledger/indexes/index-terms.ts'
import { BLOCK_EVENTS, IndexWriter } from '../../../src/ledger/indexes/index-writer.ts'
import type { LedgerEntry, StoredEvent } from '../../../src/ledger/storage/event-hash.ts'
import { seededLedger } from '../../audit/seed-ledger.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { isFullRun } from '../../harness/long-tests.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { runs } from '../../harness/properties.ts'
import { until } from '../../harness/until.ts'
import {
  addIdleEvents,
  grownLedger,
  indexUpTo,
  movementsOf,
  positionsOf,
  readLedger,
  runRandomCommands,
  setIndexed,
  startIndexer,
  untilIndexed,
} from './index-fixture.ts'

/** What the index says: `term position change`, as its pages have it. */
async function contentOf(database: TestDatabase): Promise<readonly string[]> {
  const client = await connect(database.serviceUrl, 'test')
  try {
    const { rows } = await client.query<{ base: string; data: Buffer }>(
      `select base, data from ledger_index join ledger_index_segments using (level, base)
       where state = 'live' order by base, term, first`,
    )
    const found: string[] = []
    for (const { base, data } of rows) {
      const reader = new PageReader(data)
      while (reader.nextTerm()) {
        while (reader.nextPosting()) found.push(`${hex(reader.term)} ${Number(base) + reader.offset} ${reader.change}`)
      }
    }
    return found.toSorted()
  } finally {
    await client.end()
  }
}

const hex = (term: Term): string => Buffer.from(term, 'latin1').toString('hex')

/** The same, of the whole blocks of events, by the plainest means. */
function expectedContent(events: readonly LedgerEntry[]): readonly string[] {
  const indexed = events.slice(0, events.length - (events.length % BLOCK_EVENTS))
  const changes = new Map<string, bigint>()
  for (const { account, position, amount } of movementsOf(indexed)) {
    const entry = `${hex(accountTerm(account))} ${position}`
    changes.set(entry, (changes.get(entry) ?? 0n) + BigInt(amount))
  }
  const facts = indexed.flatMap((event) => factsOf(event).map((term) => `${hex(term)} ${event.position} 0`))
  return [...[...changes].map(([entry, change]) => `${entry} ${change}`), ...new Set(facts)].toSorted()
}

function factsOf({ type, actor, requestId, idempotencyKey, data }: LedgerEntry): Term[] {
  const ids = (pattern: string, kind: TermKind): Term[] =>
    [...data.matchAll(new RegExp(`"(?:[a-z_]*_)?(?:${pattern})_ids?":\\[?([\\d,]+)`, 'g'))]
      .flatMap(([, list = '']) => list.split(',').filter((id) => id !== ''))
      .map((id) => factTerm(kind, Number(id)))
  const people = [
    ...ids('sender', 'sender'),
    ...ids('receiver', 'receiver'),
    ...ids('user|creator|winner|loser|player|owner|target|beneficiary', 'user'),
  ]
  const own = /^user:(\d+)$/.exec(actor)?.[1]
  const isNamed = (['user', 'sender', 'receiver'] as const).some((kind) => people.includes(factTerm(kind, Number(own))))
  return [
    factTerm('type', type),
    ...(own === undefined ? [factTerm('actor', actor)] : isNamed ? [] : [factTerm('user', Number(own))]),
    factTerm('request', requestId),
    ...(idempotencyKey === null ? [] : [factTerm('key', idempotencyKey)]),
    ...people,
    ...ids('room', type.startsWith('room-') ? 'membership' : 'room'),
  ]
}

test('the index follows from the events, from wherever it was', async (t) => {
  const database = await grownLedger()
  const events = await readLedger(database)
  t.equal(await indexUpTo(database, 700), 2 * BLOCK_EVENTS)
  t.same(await contentOf(database), expectedContent(events.slice(0, 2 * BLOCK_EVENTS)), 'whole blocks')
  const { failures } = startIndexer(t, database)
  await untilIndexed(database)
  t.same(await contentOf(database), expectedContent(events), 'from where it was')
  t.same(failures, [])
})

test('two instances whose sessions are killed again and again while commands run write every block once', async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  startIndexer(t, database)
  startIndexer(t, database)
  const over = new AbortController()
  t.teardown(async () => over.abort())
  const killer = await openClient(t, database.serviceUrl)
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'follower indexes' and datname = current_database()`
  let kills = 0
  const killing = (async () => {
    for (; !over.signal.aborted; await pause(5)) kills += (await killer.query(kill)).rows.length
  })()
  for (let i = 0; i < 12; i += 1) await runRandomCommands(ledger, 100)
  over.abort()
  await killing
  t.ok(kills > 0)
  await untilIndexed(database)
  t.same(await contentOf(database), expectedContent(await readLedger(database)))
})

test('what is notified is indexed at once, whatever the interval of polls', async (t) => {
  const database = await grownLedger()
  startIndexer(t, database, 3_600_000)
  await untilIndexed(database)
  const { head } = await positionsOf(database)
  await addIdleEvents(database, 2 * BLOCK_EVENTS)
  await queryRows(
    database,
    `select pg_notify('${channelName(database.serviceUrl, 'ledger')}', '${head + 2 * BLOCK_EVENTS}')`,
  )
  await untilIndexed(database)
  t.ok((await positionsOf(database)).indexed > head)
})

test('an index that another has replaced is read again, and nothing is written twice', async (t) => {
  const database = await grownLedger()
  const { failures } = startIndexer(t, database)
  await untilIndexed(database)
  // As a rebuild does.
  await queryRows(
    database,
    `begin; truncate ledger_index, ledger_index_segments; update ledger_cursors set position = 0 where name = 'indexes'; commit`,
  )
  const ledger = createTestExecutor(t, database.serviceUrl)
  const { head } = await positionsOf(database)
  while ((await positionsOf(database)).head < head + BLOCK_EVENTS) await runRandomCommands(ledger, 100)
  await ledger.runOk(credit, { user_id: 1, currency: 'coins', amount: 1, reason: 'more' })
  await untilIndexed(database)
  t.same(await contentOf(database), expectedContent(await readLedger(database)))
  t.same(failures, [])
})

test('an index beyond the end of the ledger is a failure, until it is another', async (t) => {
  const database = await grownLedger()
  const { head } = await positionsOf(database)
  const beyond = head - (head % BLOCK_EVENTS) + BLOCK_EVENTS
  await setIndexed(database, beyond)
  const { failures } = startIndexer(t, database)
  await until(() => failures.length > 1)
  const message = `the index ends at position ${beyond}, beyond the end of the ledger, ${head}`
  t.match(failures, [{ message }, { message }])
  await setIndexed(database, 0)
  await untilIndexed(database)
  t.same(await contentOf(database), expectedContent(await readLedger(database)))
})

test('pages hold what was written, in order, whatever terms and amounts there are', (t) => {
  const term = fc.oneof(
    fc.integer({ min: 1, max: 3_000 }).map((id) => accountTerm(`user:${id}:coins`)),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map((id) => factTerm('room', id)),
    fc.string({ unit: 'binary', maxLength: 300 }).map((name) => factTerm('actor', name)),
    fc.constant(accountTerm('house:gifts:diamonds')),
  )
  const change = fc.oneof(fc.bigInt(-(2n ** 80n), 2n ** 80n), fc.maxSafeInteger())
  const narrow = (value: number | bigint) => (Number.isSafeInteger(Number(value)) ? Number(value) : value)
  const lists = fc.array(fc.tuple(term, fc.uniqueArray(fc.integer({ min: 1, max: 1e9 }), { maxLength: 400 }), change))
  fc.assert(
    fc.property(lists, (found) => {
      const written = [...new Map(found.map(([name, offsets, amount]) => [name, { offsets, amount }]))]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([name, { offsets, amount }]) =>
          offsets
            .toSorted((a, b) => a - b)
            .map((offset) => ({ term: name, offset, change: isAccountTerm(name) ? narrow(amount) : 0 })),
        )
      const read: unknown[] = []
      const sums = new Map<Term, bigint>()
      const writer = new PageWriter(({ term: first, first: offset, data }) => {
        const reader = new PageReader(data)
        for (let isFirst = true; reader.nextTerm(); ) {
          if (isFirst && (reader.term !== first || BigInt(reader.before) !== (sums.get(first) ?? 0n)))
            throw new Error('a page begins elsewhere')
          while (reader.nextPosting()) {
            if (isFirst && reader.offset !== offset) throw new Error('a page begins with another event')
            isFirst = false
            sums.set(reader.term, (sums.get(reader.term) ?? 0n) + BigInt(reader.change))
            read.push({ term: reader.term, offset: reader.offset, change: reader.change })
          }
        }
      })
      for (const { term: name, offset, change: amount } of written) writer.add(name, offset, amount)
      writer.finish()
      if (JSON.stringify(read, printed) !== JSON.stringify(written, printed)) throw new Error('read something else')
    }),
    runs(100),
  )
  t.end()
})

const printed = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)

test('accounts of one holder have terms that stand together, and every account its own', (t) => {
  const names = ['user:7:coins', 'user:7:diamonds', 'user:8:coins', 'user:70:coins', 'user:1799:coins', 'room:7:target']
  names.push(
    'house:gifts:coins',
    'house:gift:coins',
    'issuance:gifts:coins',
    'user:07:coins',
    'user:x:coins',
    'user::coins',
  )
  names.push('x', '', 'user:7:gold', `user:${Number.MAX_SAFE_INTEGER}:coins`, 'house:b:coins')
  t.equal(new Set(names.map(accountTerm)).size, names.length)
  const [coins = '', diamonds = '', other = ''] = names.map(accountTerm)
  t.ok(coins < diamonds && diamonds < other)
  t.end()
})

/** Events of gifts without a ledger: `position` gives everything else. */
const giftAt = (position: number): StoredEvent => {
  const sender = (position % 97) + 1
  const movements = [{ debit: `user:${sender}:diamonds`, credit: 'house:gifts:diamonds', amount: (position % 5) + 1 }]
  const event = {
    type: 'room-joined' as const,
    data: { room_id: (position % 11) + 1, user_id: sender },
    movements,
    position,
    at: position,
  }
  const entry = {
    ...event,
    version: 1,
    data: '',
    actor: `user:${sender}`,
    requestId: `r${position}`,
    idempotencyKey: null,
  }
  return { ...event, entry: { ...entry, replyHash: null, hash: '' } }
}

/** Blocks of gifts from one position on. */
const blockAt = (base: number): StoredEvent[] => Array.from({ length: BLOCK_EVENTS }, (_, i) => giftAt(base + i + 1))

/** As `giftAt`, to many receivers, which takes many more pages than a block of others. */
const manyReceivers = (event: StoredEvent): StoredEvent => ({
  ...event,
  movements: Array.from({ length: 100 }, (_, i) => ({
    debit: 'issuance:gifts:target',
    credit: `user:${(event.position * 7_919 + i * 104_729) % 900_000}:target`,
    amount: 1,
  })),
})

test('merges and deletions keep up with the blocks, however much these have', async (t) => {
  const database = await testDatabase()
  const writer = await IndexWriter.open(await openClient(t, database.serviceUrl))
  for (let block = 0; block < 130; block += 1) {
    await writer.addBlock(blockAt(block * BLOCK_EVENTS).map(block < 96 ? manyReceivers : (event) => event))
    await writer.tidy()
    if (block % 32 < 31) continue
    const [counts] = await queryRows(
      database,
      `select count(*) filter (where state = 'live') as live, count(*) filter (where state = 'dead') as dead
       from ledger_index_segments where level = 0`,
    )
    t.ok(Number(counts?.['live']) <= 64, `${counts?.['live']} segments to look into after block ${block}`)
    t.ok(Number(counts?.['dead']) <= 64, `${counts?.['dead']} segments to delete after block ${block}`)
  }
})

test('a writer notices that a rebuild has put another index in its place, also one that is as far', async (t) => {
  // While a merge is under way, and while what it has replaced is being deleted.
  for (const blocks of [36, 44]) {
    const database = await testDatabase()
    const writer = await IndexWriter.open(await openClient(t, database.serviceUrl))
    for (let block = 0; block < blocks; block += 1) {
      await writer.addBlock(blockAt(block * BLOCK_EVENTS))
      if (block >= 32) await writer.tidy()
    }
    await queryRows(
      database,
      `begin;
     create table copy as select * from ledger_index_segments;
     alter table ledger_index_segments rename to former;
     create table ledger_index_segments (like former including all);
     insert into ledger_index_segments select level, base, 'live' from copy where level = 0;
     grant all on ledger_index_segments to public;
     commit`,
    )
    await t.rejects(writer.addBlock(blockAt(blocks * BLOCK_EVENTS)), { message: /another one/ })
    const live = "select count(*) as count from ledger_index_segments where state = 'live'"
    const before = await queryRows(database, live)
    const pages = await queryRows(database, 'select count(*) as count from ledger_index')
    await writer.tidy().catch(() => {})
    t.same(await queryRows(database, live), before, 'nor does it delete any of its segments')
    t.same(await queryRows(database, 'select count(*) as count from ledger_index'), pages, 'nor their pages')
  }
})

test('segments are merged level by level, and reads find the same before, while and after', async (t) => {
  const database = await testDatabase()
  const client = await openClient(t, database.serviceUrl)
  const db = readDb(t, database)
  const blocks = isFullRun ? 32 * 33 : 70
  let writer = await IndexWriter.open(client)
  const account = 'user:9:diamonds'
  const house = 'house:gifts:diamonds'
  const check = async (): Promise<void> => {
    const end = writer.indexed
    const own = Array.from({ length: end }, (_, i) => i + 1).filter((position) => position % 97 === 8)
    for (const direction of ['newest', 'oldest'] as const) {
      const first = Math.floor(end / 3)
      const last = Math.floor((2 * end) / 3)
      const within = own.filter((position) => position >= first && position <= last)
      // Every event moves the account of the house: more than a read takes of a segment at a time.
      const both = Array.from({ length: last - first + 1 }, (_, i) => first + i)
        .concat(within)
        .toSorted((a, b) => a - b)
      for (const [accounts, expected] of [
        [[account], within],
        [[account, house], both],
      ] as const) {
        const found: number[] = []
        for await (const { events } of eventsWith(db, accounts.map(accountTerm), { first, last }, direction))
          found.push(...events.map(({ position }) => position))
        t.same(found, direction === 'newest' ? expected.toReversed() : expected, `${direction} of ${end}`)
      }
    }
    const wanted = [1, 255, 256, 257, Math.floor(end / 2), end - 1, end].filter((position) => position <= end)
    const sums = await readSums(db, [account, house], wanted)
    const rooms = Array.from({ length: 12 }, (_, i) => factTerm('membership', i + 1))
    for (const position of wanted) {
      // The twelfth has none.
      const lasts = rooms
        .map((_, i) => position - ((((position - i) % 11) + 11) % 11))
        .map((last, i) => (i < 11 && last > 0 ? last : undefined))
      const found = await readLast(db, rooms, position)
      t.same(
        rooms.map((room) => found.get(room)),
        lasts,
        `last events up to ${position}`,
      )
      const sumOf = (positions: readonly number[]): bigint =>
        positions.reduce((sum, one) => (one <= position ? sum + BigInt((one % 5) + 1) : sum), 0n)
      t.equal(sums(account, position).balance, -sumOf(own), `of the user up to ${position} of ${end}`)
      t.equal(
        sums(house, position).balance,
        sumOf(Array.from({ length: end }, (_, i) => i + 1)),
        `of the house up to ${position}`,
      )
    }
  }
  for (let block = 0; block < blocks; block += 1) {
    await writer.addBlock(Array.from({ length: BLOCK_EVENTS }, (_, i) => giftAt(block * BLOCK_EVENTS + i + 1)))
    // One that is killed in the middle of a merge begins it again.
    if (block % 41 === 33) {
      await queryRows(database, `update ledger_head set position = ${writer.indexed}`)
      writer = await IndexWriter.open(client)
    }
    await writer.tidy()
    if (block % 23 === 0) await check()
  }
  while (!writer.isTidy) await writer.tidy()
  await check()
  const segments = await queryRows(
    database,
    'select level, count(*) as count from ledger_index_segments group by 1 order by 1',
  )
  t.same(
    segments,
    isFullRun
      ? [
          { level: '1', count: '1' },
          { level: '2', count: '1' },
        ]
      : [
          { level: '0', count: '6' },
          { level: '1', count: '2' },
        ],
  )
  t.same(
    await queryRows(
      database,
      'select distinct level, base from ledger_index except select level, base from ledger_index_segments',
    ),
    [],
  )
})
