import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { rechain, tamper, verifyDatabase } from '../../audit/verify-database.ts'
import { OTHER_INCARNATION, testIncarnation } from '../../harness/ledger/given-when.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { copyOf, type TestDatabase } from '../../harness/postgres/test-database.ts'
import { dataOf, playedGame, rouletteApp, rouletteUrl } from './roulette-app-fixture.ts'

const ask = (database: TestDatabase) =>
  queryRows(database, readFileSync(new URL('../../../sql/audit/games.sql', import.meta.url), 'utf8'))

type Played = Readonly<Record<'game' | 'gone' | 'running', { readonly id: number }>> & {
  readonly database: TestDatabase
}

test('books of games', async (t) => {
  const databases: Played[] = []

  await t.test('a finished, a cancelled and an open game in room R1', async (t) => {
    const open = await rouletteApp(t)
    const { user, database } = open
    const { game } = await playedGame(open)
    const terms = { game_price: 10, max_players: 3, join_admin: 1 }
    const gone = dataOf(await user(1)('POST', `${rouletteUrl}/create`, terms))
    await user(2)('POST', `${rouletteUrl}/join/${gone.id}`)
    await user(1)('DELETE', `${rouletteUrl}/${gone.id}`)
    const running = dataOf(await user(1)('POST', `${rouletteUrl}/create`, terms))
    await user(2)('POST', `${rouletteUrl}/join/${running.id}`)
    await user(3)('POST', `${rouletteUrl}/join/${running.id}`)
    await user(2)('POST', `${rouletteUrl}/leave/${running.id}`)
    databases.push({ database, game, gone, running })
  })
  // The app, which is closed by now, would keep its database from being copied.
  const [played] = databases
  if (played === undefined) throw new Error('no game was played')

  await t.test('sound books have no findings; a winner who was paid less than the pot is found', async (t) => {
    const { game } = played
    const database = await copyOf(played.database)
    t.same(await ask(database), [])
    t.same((await verifyDatabase(database)).findings, [])
    await tamper(database, `update shown_events set amount[1] = 89 where type = 'roulette-finished'`)
    await rechain(database)
    t.same(await ask(database), [
      { game_id: String(game.id), finding: 'coins in a game that is over', is: '1', ought_to_be: '0' },
    ])
    t.match((await verifyDatabase(database)).findings.slice(0, 2), [
      { check: 'draw', message: 'the prize is 90 coins, but 89 were paid' },
      { check: 'rules', message: `game ${game.id} holds 1 coins instead of 0` },
    ])
  })

  await t.test('a game of another incarnation, and that it was finished, are found', async (t) => {
    const { game } = played
    const database = await copyOf(played.database)
    const forged = `replace(data, '${testIncarnation}', '${OTHER_INCARNATION}')`
    await tamper(database, `update shown_events set data = ${forged} where position = ${game.id}`)
    await rechain(database)
    t.match((await verifyDatabase(database)).findings.slice(0, 2), [
      { check: 'draw', position: game.id, message: `its incarnation is ${OTHER_INCARNATION}` },
      { check: 'draw', message: 'the game was created before commits were lost' },
    ])
  })

  await t.test('a missing refund, a stake below the price, and coins of no game are found', async (t) => {
    const { gone, running } = played
    const database = await copyOf(played.database)
    const ofType = (type: string) => `(select max(position) from ledger where type = '${type}')`
    await tamper(
      database,
      `update shown_events set debit = debit[1:1], credit = credit[1:1], amount = amount[1:1]
       where type = 'roulette-cancelled'`,
      `update shown_events set amount[1] = 9 where position = ${ofType('roulette-joined')}`,
      `update shown_events set credit[1] = 'game:99999:coins' where position = ${ofType('roulette-left')}`,
    )
    await rechain(database)
    t.same(await ask(database), [
      { game_id: null, finding: 'no such game: game:99999:coins', is: '10', ought_to_be: '0' },
      { game_id: String(gone.id), finding: 'coins in a game that is over', is: '10', ought_to_be: '0' },
      { game_id: String(running.id), finding: 'not what the players paid in', is: '19', ought_to_be: '20' },
    ])
    t.match((await verifyDatabase(database)).findings.slice(0, 2), [
      { check: 'rules', message: `game ${gone.id} holds 10 coins instead of 0` },
      { check: 'rules', message: `game ${running.id} holds 29 coins instead of 30` },
    ])
  })

  await t.test('a game with two ends, and rows that differ from the ledger, are found', async (t) => {
    const { game, running } = played
    const database = await copyOf(played.database)
    await tamper(
      database,
      `update roulette_games set winner_id = 4 where game_id = ${game.id}`,
      `update roulette_games set spin = replace(spin, 'draw', 'drew') where game_id = ${game.id}`,
      'delete from roulette_open_games',
    )
    t.match((await verifyDatabase(database)).findings, [
      { check: 'projection', table: 'roulette_games', id: String(game.id) },
      { check: 'projection', table: 'roulette_games', id: String(game.id), message: /^spin is / },
      { check: 'projection', table: 'roulette_open_games', id: '1' },
    ])
    await tamper(
      database,
      `update shown_events set type = 'roulette-cancelled', debit = '{}', credit = '{}', amount = '{}',
         data = '{"game_id":${game.id},"room_id":1,"player_ids":[]}'
       where position = (select max(position) from ledger)`,
    )
    t.match(await ask(database), [
      { game_id: String(game.id), finding: 'more than one end', is: '2', ought_to_be: '1' },
    ])
    t.ok(running.id > game.id)
  })
})
