import { test } from 'tap'
import { PastBalances } from '../../../src/console/reports/past-balances.ts'
import { oldLedger } from '../../audit/old-ledger.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { until } from '../../harness/until.ts'

const limits = { inlineEvents: 1, waitMs: 20 }

test('a long trial balance says how far it is, and ends when nobody asks for it', async (t) => {
  const database = await oldLedger()
  const db = readDb(t, database)
  const source = { db, url: database.serviceUrl }
  const owner = await openClient(t, database.ownerUrl)
  await owner.query('begin; lock table ledger_events in access exclusive mode')

  const left = new PastBalances({ ...limits, unaskedMs: 40 })
  t.teardown(() => left.close())
  t.match(await left.look(source, 9), { balance: null, progress: { of: 9 } })
  await until(() => left.running === 0)

  const asked = new PastBalances(limits)
  t.teardown(() => asked.close())
  t.match(await asked.look(source, 9), { balance: null, progress: { events: 0, of: 9 } })
  await asked.look(source, 9)
  t.equal(asked.running, 1, 'the next request goes on with it')
  await asked.look(source, 8)
  t.match(await asked.look(source, 7), { balance: null })
  t.equal(asked.running, 2, 'others wait')
  const abort = new AbortController()
  const gone = t.rejects(asked.whole(source, 9, abort.signal), { message: 'gone' })
  abort.abort(new Error('gone'))
  await gone
  const third = asked.whole(source, 6, new AbortController().signal)

  await owner.query('rollback')
  await until(async () => (await asked.look(source, 9)).balance !== null)
  const { balance } = await asked.look(source, 9)
  t.same(balance, (await new PastBalances().look(source, 9)).balance, 'as one that is folded at once')
  t.equal(balance?.position, 9)
  t.equal((await third).position, 6, 'an export waits for its turn, and keeps nobody from ending')
})
