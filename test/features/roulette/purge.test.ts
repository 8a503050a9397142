import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/common.ts'
import { main } from '../../../scripts/roulette-purge.ts'
import { MAX_PURGED_GAMES, type PurgedGames, purgeGames } from '../../../src/features/roulette/cancel.ts'
import { games } from '../../../src/features/roulette/game.ts'
import { openGame } from '../../../src/features/roulette/open.ts'
import { purgedGames } from '../../../src/features/roulette/presenters.ts'
import { purgeCandidates } from '../../../src/features/roulette/reads.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { credited } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { queryRows, testSpins } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { type CommandResult, callCommandLine } from '../call-command-line.ts'
import { gameInput, movementLines, open, openedGame } from './game-rules-fixture.ts'
import { openedGames } from './opened-games-fixture.ts'
import { dataOf, rouletteApp, rouletteUrl } from './roulette-app-fixture.ts'

const MINUTE = 60_000_000

const runPurge = (url: string, ...args: readonly string[]): Promise<CommandResult> => callCommandLine(main, url, args)

/** A result with the games in their published form. */
const purged = <R extends { readonly answer: PurgedGames | undefined }>({ answer, ...result }: R) => ({
  ...result,
  answer: answer && purgedGames(answer, 'http://assets.test'),
})

test('only games that are old enough are cancelled', async (t) => {
  const table = openedGame()
  table.join(2)
  const other = table.when(open(), { ...gameInput, room: 2, caller_id: 2 }, { now: FIXED_NOW + 10 * MINUTE })
  const both = [table.game.id, other.answer?.game.game_id ?? 0]
  const purge = (older_than_minutes: number, dry_run: boolean, minutes: number, candidates = both) =>
    purged(table.when(purgeGames(candidates), { older_than_minutes, dry_run }, { now: FIXED_NOW + minutes * MINUTE }))

  t.match(purge(11, false, 10), { events: [], answer: { games: [] } })
  t.match(purge(10, false, 10, []), { events: [], answer: { games: [] } })
  t.match(purge(10, true, 10), { events: [], answer: { games: [{ id: table.game.id, status: 'open', pot: 60 }] } })
  t.match(purge(0, true, 10).answer?.games, [{ id: both[0] }, { id: both[1] }])
  const { events, answer } = purge(10, false, 10)
  t.equal(events.length, 1)
  t.match(events, [{ type: 'roulette-cancelled', data: { game_id: table.game.id, player_ids: [1, 2] } }])
  t.same(movementLines(events[0]), [
    `game:${both[0]}:coins > user:1:coins 30`,
    `game:${both[0]}:coins > user:2:coins 30`,
  ])
  t.match(answer?.games, [
    { id: both[0], status: 'cancelled', pot: 60, players: [{ id: 1, name: 'User 1' }, { id: 2 }] },
  ])
  t.equal(answer?.games.length, 1)
  t.match(purge(10, false, 10), { events: [], answer: { games: [] } }, 'again')
  t.match(purge(0, false, 10), { events: [{ data: { game_id: both[1] } }], answer: { games: [{ id: both[1] }] } })
})

test('games that were finished in the meantime, or cannot be refunded, stay as they are', async (t) => {
  const table = openedGame()
  const other = table.when(open(), { ...gameInput, room: 2, caller_id: 1 }).answer?.game.game_id ?? 0
  table.given(credited('user', 1, 'coins', MAX_INTEGER - 40 - 30))
  const purge = (dry_run = false) =>
    purged(table.when(purgeGames([table.game.id, other, 99]), { older_than_minutes: 0, dry_run })).answer
  const { uid } = table.state.get(games, String(other)) ?? {}
  const skipped = [{ id: other, uid, room_uid: 'R2', code: 'balance_limit', user_ids: [1] }]
  t.match(purge(true), { games: [{ id: table.game.id }], skipped }, 'shown beforehand')
  t.match(purge(), { games: [{ id: table.game.id }], skipped }, 'of the two games of one user only one fits')
  t.same(purge(), { games: [], skipped }, 'it is reported every time')
  t.equal(table.state.get(games, String(other))?.status, 'open')

  const played = openedGame()
  played.join(2)
  played.finish(1)
  t.match(played.when(purgeGames([played.game.id]), { older_than_minutes: 0, dry_run: false }), {
    events: [],
    answer: { games: [], skipped: [] },
  })
})

test('operators purge through the admin route', async (t) => {
  const { user, operator, database, app, ledger } = await rouletteApp(t)
  const game = dataOf(await user(1)('POST', `${rouletteUrl}/create`, { game_price: 30, max_players: 3, join_admin: 1 }))
  await user(2)('POST', `${rouletteUrl}/join/${game.id}`)
  const purge = (body: object, headers = {}) => operator('POST', '/admin/v1/roulette/purge', body, headers)
  const url = '/admin/v1/roulette/purge'

  for (const [body, field] of [
    [{}, 'older_than_minutes'],
    [{ older_than_minutes: -1 }, 'older_than_minutes'],
    [{ older_than_minutes: 1e12 }, 'older_than_minutes'],
    [{ older_than_minutes: 0, dry_run: 'perhaps' }, 'dry_run'],
  ] as const) {
    t.match(await purge(body), { status: 422, body: { errors: { [field]: [String] } } }, JSON.stringify(body))
  }
  const finance = app.jwt.sign({ sub: 'bob', role: 'finance' }, { expiresIn: '1h' })
  const headers = { authorization: `Bearer ${finance}` }
  const refused = await app.inject({ method: 'POST', url, headers, payload: { older_than_minutes: 0 } })
  t.equal(refused.statusCode, 403)
  t.equal((await user(1)('POST', url, { older_than_minutes: 0 })).status, 403)

  t.same((await purge({ older_than_minutes: 60 })).body, { data: [], meta: { skipped: [] } }, 'the game is younger')
  const dry = await purge({ older_than_minutes: 0, dry_run: '1' })
  t.match(dry, { status: 200, body: { data: [{ id: game.id, status: 'open', pot: 60, room_uid: 'R1' }] } })
  t.match((await user(2)('GET', '/v1/wallet')).body, { data: { coins: 70 } })

  const key = { 'idempotency-key': 'k' }
  const purged = await purge({ older_than_minutes: 0 }, key)
  t.match(purged, { status: 200, body: { data: [{ id: game.id, status: 'cancelled', players_count: 2 }] } })
  t.match((await user(2)('GET', '/v1/wallet')).body, { data: { coins: 100 } })
  t.equal(dataOf(await user(1)('GET', '/v1/rooms/R1')).active_roulette_game, null)
  t.match(await user(2)('POST', `${rouletteUrl}/leave/${game.id}`), { status: 422, body: { code: 'game_cancelled' } })

  await user(1)('POST', `${rouletteUrl}/create`, { game_price: 30, max_players: 3, join_admin: 1 })
  t.match(await purge({ older_than_minutes: 0 }, key), {
    text: purged.text,
    headers: { 'idempotency-replayed': 'true' },
  })
  t.match((await purge({ older_than_minutes: 0, dry_run: true })).body, { data: [{ status: 'open' }] })
  await ledger.runOk(credit, { user_id: 1, currency: 'coins', amount: MAX_INTEGER - 70, reason: 'test' })
  const stuck = { data: [], meta: { skipped: [{ code: 'balance_limit', room_uid: 'R1', user_ids: [1] }] } }
  t.match(await purge({ older_than_minutes: 0, dry_run: true }), { status: 200, body: stuck })
  t.match(await purge({ older_than_minutes: 0 }), { status: 200, body: stuck })
  const cancelled = `select actor from ledger where type = 'roulette-cancelled'`
  t.same(await queryRows(database, cancelled), [{ actor: 'staff:ann' }])
  t.same((await verifyDatabase(database)).findings, [])
  t.same([...ledger.bugs, ...ledger.failures], [])
})

test('the command line lists and then purges old games only', async (t) => {
  const database = await testDatabase()
  const { ledger, made } = await openedGames(t, database, 2)
  // As a batch of its own, so that the executor sees it.
  await queryRows(database, `update ledger_head set at = at + interval '2 hours', batch = gen_random_uuid()`)
  const [first, other] = made
  if (first === undefined || other === undefined) throw new Error('there are not two games')
  const { room, game, third } = other
  const url = database.serviceUrl
  // The second room's game is replaced by a new one.
  await ledger.runOk(purgeGames([game]), { older_than_minutes: 0, dry_run: false })
  const terms = { game_price: 1, max_players: 2, join_admin: true, client_seed: '' }
  await ledger.runOk(openGame({ spins: testSpins, feePercent: 0 }), { ...terms, caller_id: third, room })

  const line = new RegExp(`^game ${first.game} in room r1, created [-0-9 :]{19}, players: 2, coins: 80\n`)
  const dry = await runPurge(url, '--older-than', '60', '--dry-run')
  t.match(dry, { code: 0, out: line, err: '' })
  t.match(dry.out, /\ngames to cancel: 1, coins to refund: 80\n$/)
  t.match(await runPurge(url, '--older-than', '60'), {
    code: 0,
    out: /\ngames cancelled: 1, coins refunded: 80\n$/,
  })
  t.match(await runPurge(url, '--older-than', '60'), {
    code: 0,
    out: /^games cancelled: 0, coins refunded: 0\n$/,
  })
  t.match(await queryRows(database, `select actor from ledger where type = 'roulette-cancelled' order by position`), [
    { actor: 'system' },
    { actor: /^staff:.+/ },
  ])
  t.match(await queryRows(database, 'select room_id from roulette_open_games'), [{ room_id: '2' }])

  for (const args of [[], ['--older-than', '-1'], ['--older-than', 'soon'], ['--older-than', '1', '--nonsense']]) {
    t.match(await runPurge(url, ...args), { code: 1, out: '', err: /^error: / }, args.join(' '))
  }
  t.match(await runPurge('postgres://nobody@127.0.0.1:1/none', '--older-than', '1'), {
    code: 1,
    out: '',
    err: /^roulette:purge stopped: .*ECONNREFUSED.*\n$/,
  })
  t.match(await runPurge(url, '--help'), { code: 0, out: /--dry-run/ })
})

test('games that cannot be refunded are listed and do not displace those that can', async (t) => {
  const database = await testDatabase()
  const { ledger, made } = await openedGames(t, database, MAX_PURGED_GAMES + 2)
  const stuck = made.slice(0, -1)
  const [first] = stuck
  const last = made.at(-1)
  if (first === undefined || last === undefined) throw new Error('there are no games')
  const most = { currency: 'coins', amount: MAX_INTEGER - 60, reason: 'test' } as const
  await Promise.all(stuck.map(({ second }) => ledger.runOk(credit, { ...most, user_id: second })))

  t.same(await purgeCandidates(readDb(t, database), 0, MAX_PURGED_GAMES), [
    ...stuck.slice(0, MAX_PURGED_GAMES).map(({ game }) => game),
    last.game,
  ])
  const skippedLine = `game ${first.game} in room r1 skipped: balance_limit, cannot refund user ${first.second}\n`
  for (const [args, summary] of [
    [['--dry-run'], 'games to cancel: 1, coins to refund: 80'],
    [[], 'games cancelled: 1, coins refunded: 80'],
  ] as const) {
    const { code, out } = await runPurge(database.serviceUrl, '--older-than', '0', ...args)
    t.equal(code, 1)
    const parts = [skippedLine, `${summary}, games skipped: 101\n`, `game ${last.game} in`]
    t.same(
      parts.filter((part) => !out.includes(part)),
      [],
    )
  }
})
