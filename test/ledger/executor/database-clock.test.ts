import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { connect } from '../../../src/db/connect.ts'
import { DatabaseClock } from '../../../src/ledger/executor/pipelined-connection.ts'
import { lockHead } from '../../../src/ledger/executor/statements.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

test('the clock is read when the lock on the head is granted', async (t) => {
  const { ownerUrl } = await testDatabase()
  const [holder, waiting] = [await connect(ownerUrl, 'test'), await connect(ownerUrl, 'test')]
  for (const client of [holder, waiting]) t.teardown(() => client.end())
  for (const change of ['select', 'update ledger_head set batch = gen_random_uuid()']) {
    await holder.query('begin; select from ledger_head for update')
    const { rows: sessions } = await waiting.query<{ pid: number }>('select pg_backend_pid() as pid')
    const locked = waiting.query<{ now: string; batch: string }>(lockHead)
    await until(async () => {
      const waits = await holder.query('select from pg_locks where pid = $1 and not granted', [sessions[0]?.pid])
      return waits.rowCount === 1
    })
    await holder.query(change)
    const { rows } = await holder.query<{ now: string; batch: string }>(
      'select extract(epoch from clock_timestamp()) * 1000000 as now, batch from ledger_head',
    )
    await holder.query('commit')
    const [head] = (await locked).rows
    t.equal(head?.batch, rows[0]?.batch)
    t.ok(Number(head?.now) >= Number(rows[0]?.now), change)
  }
})

test('the time of this process is trusted for a while, but not across a sleep of the machine', async (t) => {
  const clock = new DatabaseClock()
  t.equal(clock.now, undefined)
  clock.set(1_000_000)
  await pause(20)
  const now = clock.now ?? 0
  t.ok(now > 1_015_000 && now < 9_000_000, `${now}`)
  const { now: today } = Date
  const shifted = (ms: number) => t.intercept(Date, 'now', { value: () => today() + ms })
  const earlier = shifted(-3_600_000)
  t.ok((clock.now ?? 0) >= now, 'also when the time of day is changed')
  earlier.restore()
  shifted(11_000)
  t.equal(clock.now, undefined, 'the monotonic time may have stood still')
})
