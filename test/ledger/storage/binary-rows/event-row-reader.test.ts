import { test } from 'tap'
import { connect } from '../../../../src/db/connect.ts'
import { copyBinaryRows } from '../../../../src/ledger/storage/copy-rows.ts'
import { canonicalText, GENESIS_HASH, type LedgerEntry } from '../../../../src/ledger/storage/event-hash.ts'
import { binaryColumns, EventRowReader } from '../../../../src/ledger/storage/event-row-reader.ts'
import { eventColumns, parseEntry } from '../../../../src/ledger/storage/stored-event.ts'
import { seededLedger } from '../../../audit/seed-ledger.ts'
import { queryRows } from '../../../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../../../harness/postgres/test-database.ts'

async function pagesOf({ serviceUrl }: TestDatabase, query: string): Promise<Buffer[]> {
  const client = await connect(serviceUrl, 'test')
  const pages: Buffer[] = []
  for await (const page of copyBinaryRows(client, query)) pages.push(page)
  await client.end()
  return pages
}

function entriesIn(pages: readonly Buffer[]): LedgerEntry[] {
  const entries: LedgerEntry[] = []
  for (const page of pages) {
    for (const rows = new EventRowReader(page); rows.next(); ) {
      entries.push(rows.entry)
      if (rows.canonicalBytes(GENESIS_HASH).toString() !== canonicalText(rows.entry, GENESIS_HASH))
        throw new Error('another hash')
    }
  }
  return entries
}

test('a binary row reads the same as a text row', async (t) => {
  const database = await seededLedger()
  const all = 'from ledger_events e order by e.position'
  const texts = (await queryRows(database, `select ${eventColumns} ${all}`)).map(parseEntry)
  t.same(entriesIn(await pagesOf(database, `select ${binaryColumns} ${all}`)), texts)
  const none = `select ${binaryColumns} from ledger_events e where e.position > 22`
  t.same(entriesIn(await pagesOf(database, none)), [])

  // Whatever else such columns can hold.
  const odd = (movements: string): string => `(select 4611686018427387904 as position, 'é-type' as type,
    -7::smallint as version, E'{"a":"b\\\\c\\tفلوس 🎁"}' as data, '${movements}' as movements, 'staff:zoë' as actor,
    timestamptz '1969-12-31 23:59:59.999999+00' as at, ''::bytea as request_id, 'a b'::bytea as idempotency_key,
    null::bytea as reply_hash, '\\x0a'::bytea as hash) as e`
  for (const movements of ['', 'u7c>hxc -5', 'a>b 9007199254740991;c>d 9007199254740992']) {
    const from = odd(movements)
    const [text] = (await queryRows(database, `select ${eventColumns} from ${from}`)).map(parseEntry)
    t.same(entriesIn(await pagesOf(database, `select ${binaryColumns} from ${from}`)), [text], movements)
  }
})

test('rows are whole, wherever the stream is split', async (t) => {
  const database = await testDatabase()
  // Characters of 1 to 4 bytes in rows of all lengths, and a row longer than any page.
  const data = `case g when 777 then repeat('ف', 500000) else repeat('aéف🎁', g % 401) || g end`
  const query = `select e.* from (select g::bigint, 'a', 1::smallint, ${data}, '', 'system', now(), 'r'::bytea,
    null::bytea, null::bytea, repeat('h', 999)::bytea from generate_series(1, 3000) g) e`
  const pages = await pagesOf(database, query)
  t.ok(pages.length > 10)
  const entries = entriesIn(pages)
  t.equal(entries.length, 3000)
  t.ok(entries.every(({ position }, i) => position === i + 1))
  const wrong = entries.filter(
    ({ position, data: is }) =>
      is !== (position === 777 ? 'ف'.repeat(500_000) : 'aéف🎁'.repeat(position % 401) + position),
  )
  t.same(wrong, [])
})
