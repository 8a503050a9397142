import type { Client } from 'pg'
import { test } from 'tap'
import { copyOut, endOfMessage, MESSAGE_HEADER, type Page, ROW } from '../../src/db/copy-out.ts'
import { copyRows } from '../../src/ledger/storage/copy-rows.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'

/** The text of the rows of a page. */
function rowsOf(page: Page): string[] {
  const rows: string[] = []
  for (let at = 0; at < page.length; at = endOfMessage(page, at)) {
    if (page[at] === ROW) rows.push(page.toString('utf8', at + MESSAGE_HEADER, endOfMessage(page, at) - 1))
  }
  return rows
}

const numbers = (upTo: number): string => `copy (select g from generate_series(1, ${upTo}) g) to stdout`
const works = async (client: Client): Promise<unknown> => (await client.query<{ one: number }>('select 1 as one')).rows

test('rows come in pages of whole messages, each but the last of at least the requested size', async (t) => {
  const client = await openClient(t, (await testDatabase()).ownerUrl)
  for (const size of [1, 7, 1_000, 65_536, 10_000_000]) {
    const rows: string[] = []
    const lengths: number[] = []
    for await (const page of copyOut(client, numbers(20_000), size)) {
      rows.push(...rowsOf(page))
      lengths.push(page.length)
      // As when it is transferred to another thread: it shares its memory with no other page.
      structuredClone(page.buffer, { transfer: [page.buffer] })
    }
    t.same(
      rows,
      Array.from({ length: 20_000 }, (_, i) => String(i + 1)),
    )
    t.ok(lengths.slice(0, -1).every((length) => length >= size))
    t.same(await works(client), [{ one: 1 }])
  }
  const none: Page[] = []
  for await (const page of copyOut(client, numbers(0), 1_000)) none.push(page)
  t.same(none.flatMap(rowsOf), [])
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
  const read = async (copy: string): Promise<number> => {
    let rows = 0
    for await (const page of copyOut(client, copy, 1_000)) rows += rowsOf(page).length
    return rows
  }
  await t.rejects(read('copy (select nothing) to stdout'), { code: '42703' })
  t.same(await works(client), [{ one: 1 }])
  await t.rejects(read('copy (select 1 / (90000 - g) from generate_series(1, 100000) g) to stdout'), { code: '22012' })
  t.same(await works(client), [{ one: 1 }])
  t.equal(await read(numbers(3_000)), 3_000)
})

test('a reader that stops early waits for the rest', async (t) => {
  const client = await openClient(t, (await testDatabase()).ownerUrl)
  for await (const page of copyOut(client, numbers(300_000), 1_000)) {
    t.equal(rowsOf(page)[0], '1')
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
  const pages = copyOut(client, `copy (select repeat('x', 1000) from generate_series(1, 100000)) to stdout`, 65_536)
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
    for await (const page of copyOut(client, numbers(5_000_000), 65_536)) {
      if (rowsOf(page)[0] === '1') {
        await watcher.query(`select pg_terminate_backend(pid) from pg_stat_activity
          where query like 'copy%' and datname = current_database()`)
      }
    }
  })()
  await t.rejects(reading, /terminat|closed|ECONNRESET/)
})
