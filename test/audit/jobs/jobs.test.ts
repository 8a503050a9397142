import { test } from 'tap'
import { Jobs } from '../../../src/audit/jobs/jobs.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('what a job came to is not lost with a database that is away for a moment', async (t) => {
  const database = await testDatabase()
  const messages: string[] = []
  const warn = (_details: object, message: string): void => {
    messages.push(message)
    void queryRows(database, 'alter table if exists jobs_away rename to jobs')
  }
  await using jobs = new Jobs(database.serviceUrl, { warn }, 60_000)
  const job = { kind: 'verification', subject: '', startedBy: 'staff:ann', of: 7, input: {} } as const
  const running = await jobs.start(job, async () => {
    await queryRows(database, 'alter table jobs rename to jobs_away')
    return { result: 'found', summary: 'nothing wrong' }
  })
  t.equal(await running.ended, 'found')
  t.equal(messages[0], 'the result of a job was not stored; retrying')
  const [{ job: stored } = { job: null }] = await jobs.list({ limit: 1 })
  t.match(stored, { state: 'done', result: 'nothing wrong' })
})
