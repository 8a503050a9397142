import { test } from 'tap'
import { formatCsv, formatJsonLine } from '../../../src/audit/reports/export-formats.ts'
import { readEntries } from '../../../src/audit/reports/write-export.ts'
import { checkDraws } from '../../../src/audit/verify/draws/check-draws.ts'
import { openPool } from '../../../src/db/pool.ts'
import type { StoredEvent } from '../../../src/ledger/storage/event-hash.ts'
import { Tail } from '../../../src/ledger/subscriptions/tail.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'
import type { Scope } from '../../harness/scope.ts'
import { until } from '../../harness/until.ts'
import { seededLedger } from '../seed-ledger.ts'
import { rebuildTables, rechain, tamper, verifyDatabase } from '../verify-database.ts'

/** The events that a tail passes on, and its failures. */
function subscribed(t: Scope, { serviceUrl: url }: TestDatabase) {
  const pool = openPool(url, { max: 2, application_name: 'test' })
  const events: StoredEvent[] = []
  const failures: unknown[] = []
  const tail = new Tail({ url, pool, failureLog: { failed: (error) => failures.push(error), succeeded: () => {} } })
  tail.start()
  tail.subscribe(0, (more) => void events.push(...more))
  t.teardown(async () => {
    await tail.stop()
    await pool.end()
  })
  return { events, failures }
}

/** A ledger whose event 12 has other fields, and a version that is not known. */
async function withUnknownVersion(): Promise<TestDatabase> {
  const database = await seededLedger()
  const data = '{"user_id":1,"gift":2,"pieces":20,"reason":"prize"}'
  await tamper(database, `update shown_events set version = -1, data = '${data}' where position = 12`)
  await rechain(database)
  return database
}

/** All events, as exports and the check of draws read them. */
const entries = ({ serviceUrl }: TestDatabase) => {
  const reading = { signal: new AbortController().signal, onPlanned: () => {}, onScanned: () => {} }
  return readEntries(serviceUrl, { first: 1, last: 22 }, reading)
}

async function exported(database: TestDatabase, lineOf: typeof formatJsonLine): Promise<string[]> {
  const lines: string[] = []
  for await (const page of entries(database)) lines.push(...page.map(lineOf))
  return lines
}

test('exports contain an event of any version as it is stored, which is what its hash covers', async (t) => {
  const database = await withUnknownVersion()
  const whole = await exported(database, formatJsonLine)
  t.match(JSON.parse(whole[11] ?? ''), {
    position: 12,
    type: 'bag-items-added',
    version: -1,
    data: { user_id: 1, gift: 2, pieces: 20, reason: 'prize' },
  })
  t.equal(whole.length, 22)
  // Movements are not part of the data, whose form does not matter here.
  const sound = await seededLedger()
  const postings = async (of: TestDatabase) =>
    (await exported(of, formatCsv)).map((lines) => lines.replaceAll(/^(\d+),[^,]*,/gm, '$1,'))
  t.same(await postings(database), await postings(sound))
})

test('an unknown version stops every reader with a clear message, and nothing is skipped', async (t) => {
  const database = await withUnknownVersion()
  const message = 'event 12 is bag-items-added version -1, which this version does not know'
  t.match((await verifyDatabase(database)).findings[0], { check: 'form', position: 12, message })
  await t.rejects(rebuildTables(database), { message: `The ledger is not sound. position 12: form: ${message}` })
  const { events, failures } = subscribed(t, database)
  await until(() => failures.length > 2)
  t.match(failures, [{ message }, { message }, { message }])
  t.same(events, [])
  await t.rejects(checkDraws(entries(database)), { message })
})
