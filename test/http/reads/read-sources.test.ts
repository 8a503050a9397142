import { test } from 'tap'
import { ReadSources } from '../../../src/http/reads/read-sources.ts'
import { Standby } from '../../../src/http/reads/standby.ts'
import { seedLedger } from '../../audit/seed-ledger.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('a report is read from a standby that has what the primary has, else from the primary', async (t) => {
  const database = await testDatabase()
  await seedLedger(t, database)
  const db = readDb(t, database)
  const primary = { db, reports: db, url: 'of the primary' }
  let head: number | Error = 22
  const standby = new Standby(
    { db, reports: db, url: 'of the standby' },
    async () => {
      if (head instanceof Error) throw head
      return head
    },
    // This instance has not read the last events.
    { position: 20 },
  )
  const reads = new ReadSources(primary, standby)
  const urlFor = async (readsStandby: boolean): Promise<string> => (await reads.reportsFor({ readsStandby })).url

  t.equal(await urlFor(true), 'of the standby')
  t.equal(await urlFor(false), 'of the primary')
  head = 21
  t.equal(await urlFor(true), 'of the primary')
  head = new Error('away')
  t.equal(await urlFor(true), 'of the primary')
  t.equal((await new ReadSources(primary, null).reportsFor({ readsStandby: false })).url, 'of the primary')
})
