import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/common.ts'
import { rebuild } from '../../../src/audit/rebuild/rebuild.ts'
import { cancelStaleGames, purgeGames } from '../../../src/features/roulette/cancel.ts'
import { games } from '../../../src/features/roulette/game.ts'
import { findStaleGames } from '../../../src/features/roulette/reads.ts'
import { joinGame, leaveGame } from '../../../src/features/roulette/seats.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { credited } from '../../harness/ledger/event-fixtures.ts'
import { beginIncarnation, FIXED_NOW, OTHER_INCARNATION } from '../../harness/ledger/given-when.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { gameInput, open, openedGame } from './game-rules-fixture.ts'
import { openedGames } from './opened-games-fixture.ts'

const MINUTE = 60_000_000

test('a game without players is stale two minutes after the last one left', async (t) => {
  const table = openedGame()
  const { id } = table.game
  const at = (minutes: number) => ({ now: FIXED_NOW + minutes * MINUTE })
  const cancel = (minutes: number, max_open_minutes: number | null = null, candidates = [id]) =>
    table.when(cancelStaleGames, { candidates, max_open_minutes }, { ...at(minutes), actor: 'system' })
  const emptySince = () => table.state.get(games, String(id))?.empty_since

  t.match(cancel(59), { events: [], answer: 0 }, 'a player is in the game')
  t.equal(emptySince(), null)
  table.when(leaveGame, table.at(1), at(10))
  t.equal(emptySince(), FIXED_NOW + 10 * MINUTE)
  t.match(cancel(11.99), { events: [] }, 'too early')
  table.when(joinGame, table.at(2), at(11))
  t.equal(emptySince(), null)
  t.match(cancel(20), { events: [] }, 'a player joined again')
  table.when(leaveGame, table.at(2), at(30))
  t.match(cancel(31.99), { events: [] }, 'counted from the last leave')
  const { events, answer } = cancel(32)
  t.match(events, [{ type: 'roulette-cancelled', data: { game_id: id, player_ids: [] }, movements: [] }])
  t.equal(answer, 1)
  t.match(table.state.get(games, String(id)), { status: 'cancelled', empty_since: null })
  t.match(cancel(33), { events: [], answer: 0 }, 'again')
})

test('a game that was never joined counts from its creation', async (t) => {
  const table = openedGame({ join_admin: false })
  const cancel = (minutes: number) =>
    table.when(
      cancelStaleGames,
      { candidates: [table.game.id], max_open_minutes: null },
      { now: FIXED_NOW + minutes * MINUTE },
    )
  t.match(cancel(1.99), { events: [] })
  t.match(cancel(2), { events: [{ type: 'roulette-cancelled' }] })
})

test('a game that is open for too long is cancelled with its players; one that cannot be refunded is skipped', async (t) => {
  const table = openedGame()
  const other = table.when(open(), { ...gameInput, room: 2, caller_id: 2 }).answer?.game.game_id ?? 0
  table.given(credited('user', 1, 'coins', MAX_INTEGER - 99))
  const cancel = (minutes: number, max_open_minutes: number | null) =>
    table.when(
      cancelStaleGames,
      { candidates: [table.game.id, other, 99], max_open_minutes },
      { now: FIXED_NOW + minutes * MINUTE },
    )
  t.match(cancel(59.99, 60), { events: [] })
  t.match(cancel(100_000, null), { events: [] }, '0 is never')
  const { events, answer } = cancel(60, 60)
  t.equal(answer, 1)
  t.match(events, [{ type: 'roulette-cancelled', data: { game_id: other, player_ids: [2] } }])
  t.equal(table.state.get(games, String(table.game.id))?.status, 'open')
})

test('a game from before commits were lost is cancelled at once', async (t) => {
  const table = openedGame()
  table.join(2)
  const cancel = () => table.when(cancelStaleGames, { candidates: [table.game.id], max_open_minutes: null })
  t.match(cancel(), { events: [] })
  beginIncarnation(table.state, OTHER_INCARNATION)
  t.match(cancel(), { events: [{ type: 'roulette-cancelled', data: { player_ids: [1, 2] } }], answer: 1 })

  const database = await testDatabase()
  const { made } = await openedGames(t, database, 2)
  const db = readDb(t, database)
  t.same(await findStaleGames(db, null, 10), [])
  await queryRows(database, `update ledger_incarnation set incarnation = '${OTHER_INCARNATION}'`)
  t.same(
    await findStaleGames(db, null, 10),
    made.map(({ game }) => game),
  )
})

/** Moves the ledger's clock, as a batch of its own, so that executors see it. */
const later = (database: TestDatabase, interval: string) =>
  queryRows(database, `update ledger_head set at = at + interval '${interval}', batch = gen_random_uuid()`)

test('stale games are read and cancelled, and a rebuild says the same', async (t) => {
  const database = await testDatabase()
  const { ledger, made } = await openedGames(t, database, 4)
  const db = readDb(t, database)
  const [first, second, third] = made
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are no games')
  for (const { room, game, creator, second: other } of [first, second, third]) {
    for (const caller_id of [creator, other]) await ledger.runOk(leaveGame, { caller_id, room, game })
  }
  t.same(await findStaleGames(db, null, 100), [], 'all players left just now')
  await later(database, '3 minutes')
  const candidates = await findStaleGames(db, null, 100)
  t.same(candidates, [first.game, second.game, third.game])
  t.same(
    await findStaleGames(db, 3, 100),
    made.map(({ game }) => game),
  )
  t.same(await findStaleGames(db, 4, 2), candidates.slice(0, 2))

  await ledger.runOk(joinGame, { caller_id: first.third, room: first.room, game: first.game, client_seed: '' })
  t.equal(await ledger.runOk(cancelStaleGames, { candidates, max_open_minutes: null }), 2)
  t.same(await findStaleGames(db, null, 100), [])
  t.same((await verifyDatabase(database)).findings, [])
  await rebuild(database.ownerUrl, { progress: () => {}, signal: new AbortController().signal })
  t.same((await verifyDatabase(database)).findings, [])
  t.same([...ledger.bugs, ...ledger.failures], [])
})

test('two instances purge the same games, and cancel the same stale games, at once: each is cancelled once', async (t) => {
  const database = await testDatabase()
  const { ledger, made } = await openedGames(t, database, 8)
  const instances = [ledger, createTestExecutor(t, database.serviceUrl)]
  for (const { room, game, creator, second } of made.slice(4)) {
    for (const caller_id of [creator, second]) await ledger.runOk(leaveGame, { caller_id, room, game })
  }
  const ids = made.map(({ game }) => game)
  const candidates = ids.slice(4)
  const purges = instances.map(({ runOk }) =>
    runOk(purgeGames(ids.slice(0, 4)), { older_than_minutes: 0, dry_run: false }),
  )
  const cancels = instances.map(({ runOk }) => runOk(cancelStaleGames, { candidates, max_open_minutes: 0 }))
  const [purged, counts] = await Promise.all([Promise.all(purges), Promise.all(cancels)])
  t.same(
    purged.flatMap((answer) => answer.games.map(({ game }) => game.game_id)),
    ids.slice(0, 4),
  )
  t.same(
    purged.flatMap(({ skipped }) => skipped),
    [],
  )
  t.same(
    counts.toSorted((a, b) => a - b),
    [0, 4],
  )
  const cancelled = `select (data::jsonb->>'game_id')::int as id from ledger where type = 'roulette-cancelled' order by 1`
  t.same(
    await queryRows(database, cancelled),
    ids.map((id) => ({ id })),
  )
  t.same((await verifyDatabase(database)).findings, [])
  t.same(
    instances.flatMap(({ bugs, failures }) => [...bugs, ...failures]),
    [],
  )
})

test('many games that cannot be refunded do not hide those that can', async (t) => {
  const database = await testDatabase()
  const { ledger, made } = await openedGames(t, database, 5)
  await later(database, '2 hours')
  const most = { currency: 'coins', amount: MAX_INTEGER - 60, reason: 'test' } as const
  for (const { second } of made.slice(0, 4)) await ledger.runOk(credit, { ...most, user_id: second })
  t.same(await findStaleGames(readDb(t, database), 60, 2), [made[4]?.game])
})
