import { test } from 'tap'
import { formatCsv } from '../../../src/audit/export/csv.ts'
import { formatJsonLine } from '../../../src/audit/export/jsonl.ts'
import { readEntries } from '../../../src/audit/export/read-entries.ts'
import { checkDraws } from '../../../src/audit/verify/draws/check-draws.ts'
import { openPool } from '../../../src/db/pool.ts'
import type { StoredEvent } from '../../../src/ledger/storage/event-hash.ts'
import { upcasters } from '../../../src/ledger/storage/upcasters.ts'
import { Tail } from '../../../src/ledger/subscriptions/tail.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
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

/** Event 12 as it would have been written before fields were renamed, twice. */
async function aged(): Promise<TestDatabase> {
  const database = await seededLedger()
  const old = '{"user_id":1,"gift":2,"pieces":20,"reason":"prize"}'
  await tamper(database, `update ledger_events set version = -1, data = '${old}' where position = 12`)
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

const fieldsOf = (data: unknown): Record<string, unknown> => ({ ...Object(data) })

test('an older version is upcast step by step, wherever the ledger is read', async (t) => {
  const database = await aged()
  Object.assign(upcasters, {
    'bag-items-added': {
      [-1]: (data: unknown) => {
        const { gift: decoration_id, ...rest } = fieldsOf(data)
        return { ...rest, decoration_id }
      },
      0: (data: unknown) => {
        const { pieces: quantity, ...rest } = fieldsOf(data)
        return { ...rest, quantity }
      },
    },
  })
  t.teardown(async () => void delete upcasters['bag-items-added'])
  t.same(await verifyDatabase(database), { position: 22, events: 22, findings: [] })
  await tamper(database, 'delete from bag_items')
  t.match(await rebuildTables(database), { position: 22 })
  t.same(await queryRows(database, 'select user_id, quantity from bag_items'), [{ user_id: '1', quantity: '6' }])
  const { events, failures } = subscribed(t, database)
  await until(() => events.length === 22)
  t.match(events[11], {
    type: 'bag-items-added',
    data: { user_id: 1, decoration_id: 2, quantity: 20 },
    entry: { version: -1 },
  })
  t.same(failures, [])
})

test('draws are verified against odds and prices of an older event version', async (t) => {
  const database = await seededLedger()
  // The price of these draws and the odds, under former names.
  const renamed = `replace(replace(data, '"price":', '"cost":'), '"odds":', '"chances":')`
  await tamper(database, `update ledger_events set version = 0, data = ${renamed} where type = 'decoration-defined'`)
  await rechain(database)
  const upcast = (data: unknown) => {
    const { cost: price, chances: odds, ...rest } = fieldsOf(data)
    return { ...rest, price, odds }
  }
  const known = upcasters['decoration-defined']
  // What it makes is of version 1.
  Object.assign(upcasters, { 'decoration-defined': { ...known, 0: upcast } })
  t.teardown(async () => void Object.assign(upcasters, { 'decoration-defined': known }))
  const { events, faults, lucky } = await checkDraws(entries(database))
  t.same({ events, faults }, { events: 22, faults: [] })
  const drawn = lucky.reduce((sum, { draws }) => sum + draws, 0)
  t.equal(drawn, 5)
  t.same((await verifyDatabase(database)).findings, [])
})

test('exports contain every version as it is stored, which is what its hash covers', async (t) => {
  const database = await aged()
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
  const database = await aged()
  const message = 'event 12 is bag-items-added version -1, which this version does not know'
  t.match((await verifyDatabase(database)).findings[0], { check: 'form', position: 12, message })
  await t.rejects(rebuildTables(database), { message: `The ledger is not sound. position 12: form: ${message}` })
  const { events, failures } = subscribed(t, database)
  await until(() => failures.length > 2)
  t.match(failures, [{ message }, { message }, { message }])
  t.same(events, [])
  await t.rejects(checkDraws(entries(database)), { message })
})
