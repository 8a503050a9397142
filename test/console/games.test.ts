import { test } from 'tap'
import { dataOf, playedGame, rouletteApp, rouletteUrl } from '../features/roulette/roulette-app-fixture.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { idsIn, textOf } from './page-texts.ts'

test('roulettes, open and finished, with the spin step by step', async (t) => {
  const open = await rouletteApp(t)
  const { app, user } = open
  const ann = await signedIn(app)
  const finance = await signedIn(app, 'finance', 'eve')

  await t.test('without games the page says so', async (t) => {
    const { status, html } = await ann.get('/console/games')
    t.equal(status, 200)
    t.match(html, 'No game has these properties')
  })

  const { game } = await playedGame(open)
  const terms = { game_price: 10, max_players: 2, join_admin: 1 }
  const running = dataOf(await user(2)('POST', `${rouletteUrl}/create`, terms)).id
  const head = running + 1

  await t.test('newest first, filtered and pinned', async (t) => {
    const list = async (query: string) => idsIn((await finance.get(`/console/games${query}`)).html, 'games')
    t.same(await list(''), [running, game.id])
    t.same(await list('?sort=created'), [game.id, running])
    t.same(await list('?status=open&room=&user='), [running])
    t.same(await list('?status=finished'), [game.id])
    t.same(await list('?status=cancelled'), [])
    t.same(await list('?user=3'), [game.id])
    t.same(await list('?user=2'), [running, game.id])
    t.same(await list('?user=30'), [])
    t.same(await list('?room=2'), [])
    t.same(await list(`?at=${running - 1}`), [game.id])
    const then = await ann.get(`/console/games?at=${game.id + 2}`)
    t.match(textOf(then.html), /open 1 .*2 of 3 60 — —/)
  })

  await t.test('every value of a spin leads to the event that has it', async (t) => {
    const { status, html } = await finance.get(`/console/games/${game.id}`)
    t.equal(status, 200)
    const { commitment, server_seed, entries_hash } = game.fairness
    const end = game.id + 4
    const leadsTo = (value: string, position: number) =>
      t.match(html, new RegExp(`href="/console/events/${position}">\\s*<code><bdi>${value}<`), value)
    leadsTo(commitment, game.id)
    leadsTo(server_seed, end)
    leadsTo(entries_hash, end)
    t.match(html, 'the winner follows from values that were committed before the spin')
    t.equal(html.match(/status good">checked/g)?.length, 4)
    t.match(textOf(html), new RegExp(`Winner .{6,} \\(${game.winner.id}\\)`))
    t.match(html, `/console/accounts/game:${game.id}:coins`)
  })

  await t.test('an open game shows its commitment, and nothing of its seed', async (t) => {
    const { html } = await ann.get(`/console/games/${running}`)
    t.match(textOf(html), 'The seed is revealed by the spin.')
    t.notMatch(html, 'Seed of the service')
    t.match(textOf(html), /Players 1 of 2 Pot 10/)
    t.match(html, `/console/events/${head}`)
  })

  await t.test('exports have what the page shows', async (t) => {
    const csv = (await ann.get('/console/games/export.csv')).html.split('\r\n')
    t.equal(csv.length, 4)
    t.match(csv[1], /^\d+,open,1,/)
    const lines = (await ann.get('/console/games/export.jsonl?status=finished')).html.trim().split('\n')
    t.match(JSON.parse(lines[0] ?? ''), { id: String(game.id), pot: '90', prize: String(game.prize) })
    t.equal(JSON.parse(lines[0] ?? '').players, 3)
  })

  await t.test('a row that the ledger does not bear out is shown as such', async (t) => {
    await queryRows(open.database, `update roulette_games set prize = prize + 1 where game_id = ${game.id}`)
    const { html } = await ann.get(`/console/games/${game.id}`)
    t.match(html, 'This spin does not follow from what was committed.')
    t.equal(html.match(/status bad">does not match/g)?.length, 1)
  })
})
