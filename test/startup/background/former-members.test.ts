import { Type } from '@sinclair/typebox'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { rebuild } from '../../../src/audit/rebuild/rebuild.ts'
import { openPool } from '../../../src/db/pool.ts'
import { MAX_RECORDED_MEMBERS } from '../../../src/features/rooms/members/record-members.ts'
import { rooms } from '../../../src/features/rooms/room.ts'
import { keyOf } from '../../../src/ledger/rules/projection.ts'
import type { Verb } from '../../../src/ledger/rules/verb.ts'
import { startRecordingFormerMembers } from '../../../src/startup/background/former-members.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import { reservePort } from '../../harness/process/reserve-port.ts'
import { type ServiceProcess, startService, tokenIn } from '../../harness/process/service.ts'
import { until } from '../../harness/until.ts'

/** Defines a room as the version before did: its owner does not become a member. */
const defineFormerly: Verb<{ readonly room_id: number; readonly owner_id: number }, null> = {
  refusals: [],
  reads: ({ room_id }) => [keyOf(rooms, room_id)],
  decide: (_state, data) => [{ type: 'room-defined', data, movements: [] }],
  result: () => null,
}

const MEMBERS = 15_000
const OWNED_ROOMS = 600

/** Many members of room 1 and of others, and owners of rooms who are no members, all without an event. */
async function writeFormerly(t: Test, database: TestDatabase): Promise<void> {
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  const ids = Array.from({ length: OWNED_ROOMS }, (_, i) => 100 + i)
  await Promise.all(ids.map((room_id) => runOk(defineFormerly, { room_id, owner_id: 2 })))
  await queryRows(
    database,
    `insert into room_profiles
       select r, 'F' || r, 'Former ' || r, '', '2025-01-01', now(), 'test' from generate_series(100, ${99 + OWNED_ROOMS}) r;
     insert into room_members
       select 1, 1000 + n, timestamptz '2026-01-01' + n * interval '1 microsecond' from generate_series(1, ${MEMBERS}) n;
     insert into room_members select r, 3, '2026-02-02' from generate_series(100, 199) r`,
  )
}

const isRecorded = async (database: TestDatabase): Promise<boolean> => {
  const [row] = await queryRows(
    database,
    `select exists (select from room_members) or exists (
       select from rooms r where not exists (
         select from room_memberships m where m.room_id = r.room_id and m.user_id = r.owner_id)) as is_left`,
  )
  return row?.['is_left'] === 'f'
}

test('members of the version before are recorded once, through a kill and by two instances', {
  skip: onlyInFullRun,
}, async (t) => {
  const database = await testDatabase()
  const environment = { DATABASE_URL: database.serviceUrl, DATA_DIR: temporaryFolder(t) }
  const start = async (): Promise<ServiceProcess> => startService(t, environment, await reservePort())
  const stop = async (service: ServiceProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    service.kill(signal)
    await service.exited
  }
  await stop(await start(), 'SIGTERM')
  await writeFormerly(t, database)
  t.same((await verifyDatabase(database)).findings, [], 'before the first start')

  const killed = startService(t, environment, await reservePort())
  const count = async () => {
    const [row] = await queryRows(database, 'select count(*) from room_memberships')
    return Number(row?.['count'])
  }
  await until(async () => (await count()) > 2_000)
  await stop(await killed, 'SIGKILL')
  t.notOk(await isRecorded(database), 'it was killed in the middle')
  t.same((await verifyDatabase(database)).findings, [], 'while some are not recorded')
  const [first, second] = await Promise.all([start(), start()])
  const authorization = `Bearer ${tokenIn(first.output(), 'user 1')}`
  const answer = await fetch(`${first.origin}/v1/rooms/R1`, { headers: { authorization } })
  t.match(await answer.json(), { data: { members_count: MEMBERS + 3 } }, 'they count as members all the time')
  await until(() => isRecorded(database))
  await Promise.all([first, second].map((service) => stop(service, 'SIGTERM')))

  const stored = `select room_id, count(*), count(distinct joined_at), min(joined_at) at time zone 'UTC' as first
    from room_memberships where room_id in (1, 100, 300) and user_id not in (1, 2) group by 1 order by 1`
  const expected = [
    { room_id: '1', count: String(MEMBERS + 1), first: '2026-01-01 00:00:00.000001' },
    { room_id: '100', count: '1', first: '2026-02-02 00:00:00' },
  ]
  t.match(await queryRows(database, stored), expected)
  t.same(
    await queryRows(
      database,
      `select joined_at at time zone 'UTC' as joined_at from room_memberships where room_id = 300`,
    ),
    [{ joined_at: '2025-01-01 00:00:00' }],
    'an owner, since the room was defined',
  )
  const recorded = `select sum(json_array_length(data::json->'members')), min(actor), max(actor)
    from ledger_events where type = 'room-members-recorded'`
  const all = String(MEMBERS + 100 + OWNED_ROOMS)
  t.same(await queryRows(database, recorded), [{ sum: all, min: 'system', max: 'system' }], 'each once')
  t.same((await verifyDatabase(database)).findings, [])
  const before = await queryRows(database, 'select * from room_memberships order by room_id, user_id')
  await rebuild(database.ownerUrl, { progress: () => {}, signal: new AbortController().signal })
  t.same(await queryRows(database, 'select * from room_memberships order by room_id, user_id'), before)
  t.same((await verifyDatabase(database)).findings, [])
})

test('owners are recorded first, and another instance goes on when the recording one is killed', async (t) => {
  const database = await testDatabase()
  let waits = 0
  const log = pino({ level: 'debug' }, { write: (line) => (waits += Number(line.includes('waiting for it'))) })
  const ledger = createTestExecutor(t, database.serviceUrl)
  const ids = Array.from({ length: OWNED_ROOMS }, (_, i) => 100 + i)
  await Promise.all([1, ...ids].map((room_id) => ledger.runOk(defineFormerly, { room_id, owner_id: 2 })))
  await queryRows(
    database,
    `insert into room_profiles select room_id, 'F' || room_id, 'Former', '', '2025-01-01', now(), 'test' from rooms;
     insert into room_members select 1, 1000 + n, '2026-01-01' from generate_series(1, 2000) n`,
  )
  const recording = new HelperProcess(new URL('recording-process.ts', import.meta.url), {})
  t.teardown(() => recording.stop())
  await recording.call({ url: database.serviceUrl }, Type.Null())
  const members = 'select count(*), count(*) filter (where user_id = 2) as owners from room_memberships'
  const first = String(MAX_RECORDED_MEMBERS)
  t.same(await queryRows(database, members), [{ count: first, owners: first }])

  const subscriberPool = openPool(database.serviceUrl, { max: 2, application_name: 'waiting under test' }, log)
  t.teardown(() => subscriberPool.end())
  let attempts = 0
  const start = (): AsyncDisposableStack => {
    const instance = new AsyncDisposableStack()
    t.teardown(() => instance.disposeAsync())
    const { executor } = ledger
    const run: typeof executor.run = (command) => {
      attempts += 1
      return executor.run(command)
    }
    startRecordingFormerMembers({ run }, { url: database.serviceUrl, subscriberPool }, log, instance, [0])
    return instance
  }
  const [stopped] = [start(), start()]
  await until(() => waits === 2)
  await stopped?.disposeAsync()
  t.equal(attempts, 0, 'they wait for the first one; one that stops does not wait any longer')
  process.kill(recording.pid, 'SIGKILL')
  await until(() => isRecorded(database))
  t.same(await queryRows(database, members), [
    { count: String(2_000 + OWNED_ROOMS + 1), owners: String(OWNED_ROOMS + 1) },
  ])
  t.same((await verifyDatabase(database)).findings, [])
})
