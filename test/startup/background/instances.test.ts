import { pino } from 'pino'
import { test } from 'tap'
import { eventTypes } from '../../../schema/events.ts'
import { openPool } from '../../../src/db/pool.ts'
import { type Instance, readInstances } from '../../../src/db/queries/instances.ts'
import { startHeartbeat } from '../../../src/startup/background.ts'
import { seedLedger } from '../../audit/seed-ledger.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

const identity = (id: number) => ({
  id: `00000000-0000-4000-8000-00000000000${id}`,
  host: `host-${id}`,
  pid: 100 + id,
  version: '1a2b3c4d',
})

test('instances are seen with their state; one that stops goes at once, one that dies fades', async (t) => {
  const database = await testDatabase()
  await seedLedger(t, database)
  // The template of this database may be older than the two minutes in which an instance fades.
  await queryRows(database, 'update passed_time set at = clock_timestamp()')
  const db = readDb(t, database)
  const lines: { readonly msg: string }[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const subscriberPool = openPool(database.serviceUrl, { max: 4, application_name: 'instances under test' }, log)
  t.teardown(() => subscriberPool.end())
  const [{ position: head } = { position: '0' }] = await queryRows(database, 'select position from ledger_head')
  let queue = 3
  const start = (id: number): AsyncDisposableStack => {
    const stack = new AsyncDisposableStack()
    t.teardown(() => stack.disposeAsync())
    const readState = () => ({
      role: id === 1 ? ('writer' as const) : ('forwarding' as const),
      queue,
      position: Number(head) - id,
      sockets: 7 * id,
    })
    startHeartbeat({ subscriberPool }, identity(id), readState, log, stack, 5)
    return stack
  }
  const seen = async (): Promise<readonly number[]> => (await readInstances(db)).map(({ pid }) => pid - 100)
  const first = start(1)
  await until(async () => (await seen()).length === 1)
  const second = start(2)
  await until(async () => (await seen()).length === 2)
  const instances = await readInstances(db)
  const told = ({ pid, role, lag, sockets, version }: Instance) => ({ pid, role, lag, sockets, version })
  t.same(instances.map(told), [
    { pid: 101, role: 'writer', lag: 1, sockets: 7, version: '1a2b3c4d' },
    { pid: 102, role: 'forwarding', lag: 2, sockets: 14, version: '1a2b3c4d' },
  ])
  t.ok(instances.every(({ age_seconds, silent_seconds }) => age_seconds >= silent_seconds && silent_seconds < 60))
  queue = 4
  await until(async () => (await readInstances(db)).every((instance) => instance.queue === 4))

  await second.disposeAsync()
  t.same(await seen(), [1])
  // As left by one that was killed.
  const died = `insert into instances select '${identity(3).id}', 'host-3', 103, version, '{"gift-drawn":[1]}', queue, lag, sockets, role,
                  started_at, now() - interval '100 seconds' from instances`
  const reads = await queryRows(database, "select reads::json ->> 'gift-drawn' as versions from instances")
  t.same(reads, [{ versions: `[${eventTypes['gift-drawn'].version}]` }])
  await queryRows(database, died)
  const dead = (await readInstances(db)).find(({ pid }) => pid === 103)
  t.ok((dead?.silent_seconds ?? 0) >= 100)
  await queryRows(database, `update instances set seen_at = seen_at - interval '30 seconds' where pid = 103`)
  t.same(await seen(), [1])
  await until(async () => (await queryRows(database, 'select pid from instances')).length === 1)

  await queryRows(database, 'alter table instances rename to gone')
  await until(() => lines.some(({ msg }) => msg.startsWith('this instance cannot say')))
  await queryRows(database, 'alter table gone rename to instances')
  await until(() => lines.some(({ msg }) => msg.startsWith('this instance says again')))
  await first.disposeAsync()
  t.same(await seen(), [])
})
