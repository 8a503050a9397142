import { test } from 'tap'
import { lastPositionUntil } from '../../../src/ledger/indexes/last-position-until.ts'
import { seededLedger } from '../../audit/seed-ledger.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('the last event until a time is found, also between events, at ties and beyond both ends', async (t) => {
  t.equal(await lastPositionUntil(readDb(t, await testDatabase()), Date.now() * 1_000, 0), 0, 'of an empty ledger')
  const database = await seededLedger()
  const db = readDb(t, database)
  const rows = await queryRows(
    database,
    `select position, (extract(epoch from at) * 1000000)::bigint as at from ledger order by position`,
  )
  const events = rows.map(({ position, at }) => ({ position: Number(position), at: Number(at) }))
  t.ok(new Set(events.map(({ at }) => at)).size < events.length, 'events of one transaction have one time')
  for (const head of [1, 2, 7, events.length]) {
    const within = events.slice(0, head)
    for (const time of events.flatMap(({ at }) => [at - 1, at, at + 1])) {
      const expected = within.findLast(({ at }) => at <= time)?.position ?? 0
      t.equal(await lastPositionUntil(db, time, head), expected, `until ${time} of ${head}`)
    }
  }
})
