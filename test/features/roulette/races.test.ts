import { test } from 'tap'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp, type TestResponse } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { isFullRun } from '../../harness/long-tests.ts'
import { Random } from '../../harness/random.ts'
import { dataOf, rouletteApp, rouletteUrl } from './roulette-app-fixture.ts'

const ROUNDS = isFullRun ? 200 : 10
const CLIENTS = 40
const PLACES = 8
const PRICE = 7
const COINS = 10_000

const shuffled = <T>(items: readonly T[], random: Random): T[] =>
  items
    .map((item) => ({ item, place: random.int(0, 2 ** 31) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)

type Action = 'join' | 'leave' | 'finish' | 'cancel'
interface Attempt {
  readonly by: number
  readonly does: Action
}

test(`${CLIENTS} clients join, leave, finish and cancel one game at once, in ${ROUNDS} rounds`, async (t) => {
  const one = await rouletteApp(t)
  // A second instance on the same database serves every other client.
  const other = await createTestApp(t, { database: one.database })
  const players = Array.from({ length: CLIENTS }, (_, i) => i + 1)
  await one.operator('POST', '/admin/v1/users', { users: players.map((id) => ({ id })) })
  await Promise.all(
    players.map(async (id) => {
      const amount = COINS - (id <= 5 ? 100 : 0)
      await one.operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'coins', amount, reason: 'test' })
      await one.user(id)('GET', '/v1/rooms/R1/join')
    }),
  )
  const ask = (by: number) => (by % 2 === 0 ? one : other).user(by)
  const random = new Random(20_261_121)

  for (let round = 0; round < ROUNDS; round += 1) {
    const creator = random.oneOf(players)
    const terms = { game_price: PRICE, max_players: PLACES, join_admin: round % 2 }
    const game = dataOf(await ask(creator)('POST', `${rouletteUrl}/create`, terms))
    const others = shuffled(
      players.filter((id) => id !== creator),
      random,
    )
    // Some have joined already; of them some will leave, some will finish.
    const seated = others.slice(0, 4)
    await Promise.all(seated.map((id) => ask(id)('POST', `${rouletteUrl}/join/${game.id}`)))
    const shots: Attempt[] = [
      { by: creator, does: 'cancel' },
      { by: creator, does: 'finish' },
      ...seated.slice(0, 2).map((by) => ({ by, does: 'leave' as const })),
      ...seated.slice(2).map((by) => ({ by, does: 'finish' as const })),
      ...others.slice(4, CLIENTS - 2).map((by) => ({ by, does: 'join' as const })),
    ]
    t.equal(shots.length, CLIENTS)
    const fire = async ({ by, does }: Attempt): Promise<TestResponse & Attempt> => {
      const id = random.oneOf([game.id, game.uid])
      const [method, url] =
        does === 'cancel'
          ? (['DELETE', `${rouletteUrl}/${id}`] as const)
          : (['POST', `${rouletteUrl}/${does}/${id}`] as const)
      return { ...(await ask(by)(method, url)), by, does }
    }
    const responses = await Promise.all(shuffled(shots, random).map(fire))

    const ends = responses.filter(({ does, status }) => (does === 'finish' || does === 'cancel') && status === 200)
    if (ends.length !== 1) t.fail(`round ${round}: ${ends.length} ends`)
    // Which refusals come, and how many, is a matter of chance.
    const usual = /^game_(full|finished|cancelled)$/
    const odd = responses.filter(({ status, body }) => status !== 200 && !usual.test(String(Object(body).code)))
    if (odd.length > 0) t.fail(`round ${round}: ${odd.map(({ does, text }) => `${does} ${text}`).join()}`)
    const { ended, coins, held } = await finalState(one.database, game.id)
    if (!ended || held !== 0 || coins !== CLIENTS * COINS) t.fail(`round ${round}: ${coins} coins, ${held} in the game`)
  }

  t.same(
    await crowded(one.database),
    [{ games: String(ROUNDS), most: String(PLACES) }],
    'never more players than places',
  )
  t.same((await verifyDatabase(one.database)).findings, [])
  t.same(
    [one, other].flatMap(({ ledger }) => [...ledger.bugs, ...ledger.failures]),
    [],
  )
})

/** The state after a round: whether the game has one end, all coins, and the coins in the game's account. */
async function finalState(database: Parameters<typeof queryRows>[0], game: number) {
  const [row] = await queryRows(
    database,
    `select (select count(*) from roulette_games where game_id = ${game} and status <> 'open') as ended,
            (select count(*) from roulette_open_games) as open,
            (select sum(balance) from balances where account ~ '^(user|house).*:coins$') as coins,
            (select coalesce(sum(balance), 0) from balances where account ~ '^game:') as held`,
  )
  return {
    ended: row?.['ended'] === '1' && row['open'] === '0',
    coins: Number(row?.['coins']),
    held: Number(row?.['held']),
  }
}

/** The most players that any game ever had at a time, counted from the ledger event by event. */
const crowded = (database: Parameters<typeof queryRows>[0]) =>
  queryRows(
    database,
    `with seats as (
       select data::jsonb->>'game_id' as game, position,
              sum(case type when 'roulette-joined' then 1 else -1 end) over (
                partition by data::jsonb->>'game_id' order by position) as taken
       from ledger where type in ('roulette-joined', 'roulette-left')
     )
     select (select count(*) from ledger where type = 'roulette-created') as games, max(taken) as most from seats`,
  )
