import type { Client } from 'pg'
import { test } from 'tap'
import { copyBinaryRows, copyRows, type Page } from '../../../src/ledger/storage/copy-rows.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

/** The texts of the rows of a page, of one column. */
function textsOf(page: Page): string[] {
  const texts: string[] = []
  for (let at = 0; at < page.length; ) {
    const end = at + 6 + page.readInt32BE(at + 2)
    texts.push(page.toString('utf8', at + 6, end))
    at = end
  }
  return texts
}

const numbers = (upTo: number): string => `select g from generate_series(1, ${upTo}) g`
const works = async (client: Client): Promise<unknown> => (await client.query<{ one: number }>('select 1 as one')).rows

test('binary rows come in pages of whole rows', async (t) => {
  const client = await openClient(t, (await testDatabase()).ownerUrl)
  // The second row is larger than pages.
  const length = (g: number): number => (g === 2 ? 1_000_000 : g % 300)
  const query = `select repeat('é', case g when 2 then 1000000 else g % 300 end) from generate_series(1, 20000) g`
  const texts: string[] = []
  let pages = 0
  for await (const page of copyBinaryRows(client, query)) {
    texts.push(...textsOf(page))
    pages += 1
    // As when it is transferred to another thread: it shares its memory with no other page.
    structuredClone(page.buffer, { transfer: [page.buffer] })
  }
  t.strictSame(
    texts.map((text) => text.replaceAll('é', '').length + text.length),
    Array.from({ length: 20_000 }, (_, i) => length(i + 1)),
  )
  t.ok(pages > 10)
  t.same(await works(client), [{ one: 1 }])
  for await (const page of copyBinaryRows(client, `${query} where g > 20000`)) t.equal(page.length, 0)
})

test('text rows are whole, too', async (t) => {
  const client = await openClient(t, (await testDatabase()).ownerUrl)
  const texts: (string | null | undefined)[] = []
  for await (const rows of copyRows(
    client,
    `select 'é' || chr(10) || chr(9) || chr(92) || g, null from generate_series(1, 30000) g`,
  )) {
    texts.push(...rows.map(([field]) => field))
    t.ok(rows.every(([, none]) => none === null))
  }
  t.strictSame(
    texts,
    Array.from({ length: 30_000 }, (_, i) => `é\n\t\\${i + 1}`),
  )
  for await (const rows of copyRows(client, `${numbers(9)} where g > 9`)) t.same(rows, [])
})

test('messages of the server between the rows are skipped', async (t) => {
  const client = await openClient(t, (await testDatabase()).ownerUrl)
  await client.query(`create function pg_temp.noted(g int) returns int language plpgsql as $$
    begin if g % 100 = 0 then raise notice 'at %', g; end if; return g; end $$`)
  const rows: (string | null | undefined)[] = []
  for await (const page of copyRows(client, 'select pg_temp.noted(g) from generate_series(1, 1000) g')) {
    rows.push(...page.map(([field]) => field))
  }
  t.same(
    rows,
    Array.from({ length: 1_000 }, (_, i) => String(i + 1)),
  )
})

test('the reader gets an error, at once or in the middle, and the connection stays usable', async (t) => {
  const client = await openClient(t, (await testDatabase()).ownerUrl)
  const read = async (query: string): Promise<number> => {
    let count = 0
    for await (const rows of copyRows(client, query)) count += rows.length
    return count
  }
  await t.rejects(read('select nothing'), { code: '42703' })
  t.same(await works(client), [{ one: 1 }])
  await t.rejects(read('select 1 / (90000 - g) from generate_series(1, 100000) g'), { code: '22012' })
  t.same(await works(client), [{ one: 1 }])
  t.equal(await read(numbers(3_000)), 3_000)
})

test('a reader that stops early waits for the rest', async (t) => {
  const client = await openClient(t, (await testDatabase()).ownerUrl)
  for await (const [first] of copyRows(client, numbers(300_000))) {
    t.same(first, ['1'])
    break
  }
  t.same(await works(client), [{ one: 1 }])
})

test('the server waits for a slow reader', async (t) => {
  const database = await testDatabase()
  const client = await openClient(t, database.ownerUrl)
  const watcher = await openClient(t, database.ownerUrl)
  const waits = async (): Promise<unknown> =>
    (
      await watcher.query(`select wait_event from pg_stat_activity
         where query like 'copy%' and state = 'active' and datname = current_database()`)
    ).rows
  const pages = copyBinaryRows(client, `select repeat('x', 1000) from generate_series(1, 100000)`)
  await pages.next()
  // It also waits for moments while it fills the buffers between them.
  let times = 0
  await until(async () => {
    times = JSON.stringify(await waits()) === '[{"wait_event":"ClientWrite"}]' ? times + 1 : 0
    return times === 20
  })
  let length = 0
  for await (const page of pages) length += page.length
  t.ok(length > 100_000_000)
})

test('a connection that breaks is an error', async (t) => {
  const database = await testDatabase()
  const client = await openClient(t, database.ownerUrl)
  const watcher = await openClient(t, database.ownerUrl)
  const reading = (async () => {
    for await (const [first] of copyRows(client, numbers(5_000_000))) {
      if (first?.[0] === '1') {
        await watcher.query(`select pg_terminate_backend(pid) from pg_stat_activity
          where query like 'copy%' and datname = current_database()`)
      }
    }
  })()
  await t.rejects(reading, /terminat|closed|ECONNRESET/)
})
