import { pino } from 'pino'
import { test } from 'tap'
import { openPool } from '../../../src/db/pool.ts'
import { leaveGame } from '../../../src/features/roulette/seats.ts'
import { startStaleGames } from '../../../src/startup/writing.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { openedGames } from '../../features/roulette/opened-games-fixture.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

test('instances cancel each stale game once', async (t) => {
  const database = await testDatabase()
  const { ledger, made } = await openedGames(t, database, 6)
  for (const { room, game, creator, second } of made.slice(0, 4)) {
    for (const caller_id of [creator, second]) await ledger.runOk(leaveGame, { caller_id, room, game })
  }
  const lines: { readonly msg: string; readonly games?: number }[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const subscriberPool = openPool(database.serviceUrl, { max: 4, application_name: 'stale games under test' }, log)
  t.teardown(() => subscriberPool.end())
  const instances = new AsyncDisposableStack()
  t.teardown(() => instances.disposeAsync())
  for (const { executor } of [ledger, createTestExecutor(t, database.serviceUrl)]) {
    startStaleGames(executor, { subscriberPool: subscriberPool }, 60, log, instances)
  }
  const ended = () =>
    queryRows(database, `select actor, data::jsonb->>'game_id' as game from ledger where type = 'roulette-cancelled'`)
  const later = (interval: string) =>
    queryRows(database, `update ledger_head set at = at + interval '${interval}', batch = gen_random_uuid()`)
  const untilEnded = (count: number) => until(async () => (await ended()).length >= count)

  await later('3 minutes')
  await untilEnded(4)
  await later('1 hour')
  await untilEnded(6)
  await instances.disposeAsync()
  t.same(
    (await ended()).map(({ actor, game }) => [actor, Number(game)]).toSorted((a, b) => Number(a[1]) - Number(b[1])),
    made.map(({ game }) => ['system', game]),
  )
  t.equal(
    lines.reduce((sum, { msg, games = 0 }) => sum + (msg === 'stale roulette games cancelled' ? games : 0), 0),
    6,
  )
  t.same((await verifyDatabase(database)).findings, [])
})

test('an unreachable database is retried, and a stop does not wait for it', async (t) => {
  const { ledger } = await openedGames(t, await testDatabase(), 1)
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line).msg) })
  const subscriberPool = openPool('postgres://nobody@127.0.0.1:1/none', { max: 1, application_name: 'nowhere' }, log)
  t.teardown(() => subscriberPool.end())
  const cleanUp = new AsyncDisposableStack()
  startStaleGames(ledger.executor, { subscriberPool: subscriberPool }, 0, log, cleanUp)
  await until(() => lines.includes('cancelling stale games fails; retrying'))
  await cleanUp.disposeAsync()
  t.same(ledger.failures, [])
})
