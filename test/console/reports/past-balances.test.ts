import { test } from 'tap'
import { Jobs } from '../../../src/audit/jobs/jobs.ts'
import { pastBalances } from '../../../src/console/reports/reports.ts'
import { oldLedger } from '../../audit/old-ledger.ts'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { until } from '../../harness/until.ts'

const limits = { maxInlineEvents: 1, waitMs: 20 }

test('a long trial balance says how far it is, and ends when nobody asks for it, or is stopped', async (t) => {
  const database = await oldLedger()
  const source = { db: readDb(t, database), url: database.serviceUrl }
  const of = (position: number) => ({ database: source, position, startedBy: 'staff:ann' })
  const jobs = new Jobs(database.serviceUrl, { warn: () => {} })
  t.teardown(() => jobs.close())
  const parts = { jobs, sealsFolder: temporaryFolder(t) }
  const owner = await openClient(t, database.ownerUrl)
  await owner.query('begin; lock table ledger_events in access exclusive mode')

  const left = pastBalances(parts, { ...limits, unaskedMs: 40 })
  t.match(await left.look(of(9)), { result: null, progress: { of: 9 } })
  await until(() => left.running === 0)

  const asked = pastBalances(parts, limits)
  t.match(await asked.look(of(9)), { result: null, progress: { events: 0, of: 9 } })
  await asked.look(of(9))
  t.equal(asked.running, 1, 'the next request goes on with it')
  await asked.look(of(8))
  t.match(await asked.look(of(7)), { result: null })
  t.equal(asked.running, 2, 'others wait')
  const abort = new AbortController()
  const gone = t.rejects(asked.whole(of(9), abort.signal), { message: 'gone' })
  abort.abort(new Error('gone'))
  await gone
  const third = asked.whole(of(6), new AbortController().signal)

  const [stopped] = await jobs.list({ kind: 'trial-balance', limit: 1 })
  t.match(stopped?.job, { subject: '8', state: 'running', started_by: 'staff:ann' })
  await jobs.stop(stopped?.job.id ?? 0, 'staff:eve')
  t.match(await asked.look(of(8)), { result: null }, 'one that was stopped does not begin again at once')
  t.match(await jobs.find({ id: stopped?.job.id ?? 0 }), { job: { state: 'stopped', stopped_by: 'staff:eve' } })

  await owner.query('rollback')
  await until(async () => (await asked.look(of(9))).result !== null)
  const { result } = await asked.look(of(9))
  t.same(result, (await pastBalances(parts).look(of(9))).result, 'as one that is folded at once')
  t.equal(result?.position, 9)
  t.equal((await third).position, 6, 'an export waits for its turn, and keeps nobody from ending')
})
