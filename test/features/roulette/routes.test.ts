import { test } from 'tap'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { queryRows, testOpening, testSpins } from '../../harness/ledger/test-executor.ts'
import { dataOf, person } from '../answers.ts'
import { rouletteApp, rouletteUrl } from './roulette-app-fixture.ts'

const { incarnation } = testOpening

test('games of one room', async (t) => {
  const { user, operator, ledger, database } = await rouletteApp(t)

  await t.test('a game from its creation to the winner', async (t) => {
    t.same((await user(1)('GET', `${rouletteUrl}/`)).body, { data: null })
    const made = await user(1)('POST', `${rouletteUrl}/create`, {
      game_price: 30,
      max_players: 3,
      join_admin: 1,
      client_seed: 'mine',
      status: 'finished',
    })
    t.equal(made.status, 201)
    const game = dataOf(made)
    const seed = Buffer.from(testSpins.seed({ incarnation, uid: game.uid })).toString('hex')
    t.match(game.created_at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    t.match(game.uid, new RegExp(`^g-${game.id}-[0-9a-z]+$`))
    t.match(game.fairness.commitment, /^[0-9a-f]{64}$/)
    t.same(made.body, {
      data: {
        id: game.id,
        uid: game.uid,
        room_uid: 'R1',
        status: 'open',
        game_price: 30,
        prize: 90,
        max_players: 3,
        players_count: 1,
        pot: 30,
        players: [person(1)],
        from: person(1),
        winner: null,
        fairness: { algorithm: 'rr1', game_uid: game.uid, incarnation, commitment: game.fairness.commitment },
        created_at: game.created_at,
        finished_at: null,
      },
    })

    for (const url of [
      rouletteUrl,
      '/api/v1/rooms/1/games/roulette/',
      `${rouletteUrl}/${game.id}`,
      `${rouletteUrl}/${game.uid}`,
    ]) {
      t.same((await user(5)('GET', url)).body, made.body, url)
    }
    for (const url of ['/v1/rooms/R1', '/api/v1/rooms/1', '/v1/rooms/R1/join']) {
      t.same(dataOf(await user(2)('GET', url)).active_roulette_game, game, url)
    }
    t.equal(dataOf(await user(2)('GET', '/v1/rooms/R2')).active_roulette_game, null)

    t.match(await user(2)('POST', `${rouletteUrl}/join/${game.id}`), {
      status: 200,
      body: { data: { players_count: 2, pot: 60 } },
    })
    t.match(await user(3)('POST', `/api/v1/rooms/1/games/roulette/join/${game.uid}/`, { client_seed: 'three' }), {
      status: 200,
      body: { data: { players: [person(1), person(2), person(3)] } },
    })
    t.match((await user(2)('POST', `${rouletteUrl}/leave/${game.uid}`)).body, { data: { players_count: 2, pot: 60 } })
    t.match((await user(2)('GET', '/v1/wallet')).body, { data: { coins: 100 } })
    t.match(await user(4)('POST', `${rouletteUrl}/join/${game.id}`), { status: 200 })

    const held = await queryRows(
      database,
      `select e.data from ledger e union all select g::text from roulette_games g union all select r.body from replies r`,
    )
    t.notOk(JSON.stringify(held).includes(seed), 'the seed is nowhere before the finish')

    const finished = await user(3)('POST', `${rouletteUrl}/finish/${game.uid}`)
    t.equal(finished.status, 200)
    const { losers, ...over } = dataOf(finished)
    t.match(over, {
      status: 'finished',
      prize: 90,
      pot: 90,
      players_count: 3,
      finished_at: /^\d{4}-\d\d-\d\dT.*\.\d{6}Z$/,
    })
    t.same(over.fairness.server_seed, seed)
    const { entries, draw } = over.fairness
    t.match(entries, [
      { entry: game.id + 1, user_id: 1, stake: 30, client_seed: 'mine' },
      { user_id: 3, client_seed: 'three' },
      { user_id: 4, client_seed: '' },
    ])
    t.same(over.winner, person(entries[draw].user_id))
    t.same(
      losers,
      [1, 3, 4].filter((id) => id !== over.winner.id).map((id) => person(id)),
    )
    for (const id of [1, 3, 4]) {
      t.match((await user(id)('GET', '/v1/wallet')).body, { data: { coins: id === over.winner.id ? 160 : 70 } })
    }
    t.same((await user(2)('GET', `${rouletteUrl}/${game.id}`)).body, { data: over }, 'losers can verify it')
    t.same((await user(1)('GET', rouletteUrl)).body, { data: null })
    t.equal(dataOf(await user(2)('GET', '/v1/rooms/R1')).active_roulette_game, null)
  })

  await t.test('a game from its creation to its cancellation', async (t) => {
    const make = () => user(1)('POST', `${rouletteUrl}/create`, { game_price: 10, max_players: 2 })
    const game = dataOf(await make())
    await user(2)('POST', `${rouletteUrl}/join/${game.id}`)
    const gone = await user(1)('DELETE', `${rouletteUrl}/${game.id}`)
    t.equal(gone.status, 200)
    t.match(gone.body, { meta: { message: String } })
    t.same(Object.keys(Object(gone.body)), ['meta'])
    t.match((await user(2)('GET', '/v1/wallet')).body, { data: { coins: 100 } })
    t.match(await user(2)('GET', `${rouletteUrl}/${game.uid}`), {
      body: { data: { status: 'cancelled', pot: 10, winner: null } },
    })
    const next = dataOf(await make())
    t.match(await user(1)('DELETE', `/api/v1/rooms/1/games/roulette/${next.uid}`), { status: 200 })
    t.same((await user(1)('GET', rouletteUrl)).body, { data: null })
    t.same(await queryRows(database, `select balance from balances where account = 'game:${game.id}:coins'`), [
      { balance: '0' },
    ])
  })

  await t.test('whether the creator joins may be said in the body or in the query', async (t) => {
    const rows: readonly [query: string, body: object, players: number][] = [
      ['?join_admin=1', {}, 1],
      ['?join_admin=true', { join_admin: null }, 1],
      ['?join_admin=1', { join_admin: 0 }, 0],
      ['?join_admin=0', { join_admin: true }, 1],
      ['?join_admin=', {}, 0],
      ['', {}, 0],
    ]
    for (const [query, others, players] of rows) {
      const body = { game_price: 30, max_players: 3, ...others }
      const made = await user(1)('POST', `${rouletteUrl}/create${query}`, body)
      t.match(made, { status: 201, body: { data: { players_count: players } } }, `${query} ${JSON.stringify(others)}`)
      t.equal((await user(1)('DELETE', `${rouletteUrl}/${dataOf(made).id}`)).status, 200)
    }
    const wrong = await user(1)('POST', `${rouletteUrl}/create?join_admin=yes`, { game_price: 30, max_players: 3 })
    t.match(wrong, { status: 422, body: { errors: { join_admin: [String] } } })
  })

  await t.test('what is refused changes nothing, and codes have the messages of the contract', async (t) => {
    const create = (by: number, room: string | number, body: object) =>
      user(by)('POST', `/v1/rooms/${room}/games/roulette/create`, { game_price: 30, max_players: 2, ...body })
    const game = dataOf(await create(1, 'R1', { join_admin: true }))
    const other = dataOf(await create(1, 'R2', {}))
    const refused = async (answer: ReturnType<typeof create>, status: number, code: string, message = /./) =>
      t.match(await answer, { status, body: { code, message } }, `${status} ${code}`)
    const at = (by: number, verb: string, id: string | number = game.id) =>
      user(by)('POST', `${rouletteUrl}/${verb}/${id}`)
    const before = await queryRows(database, 'select position from ledger_head')

    for (const room of ['R3', 3]) await refused(create(1, room, {}), 404, 'not_found')
    for (const verb of ['join', 'leave', 'finish']) {
      for (const id of [other.id, other.uid, 'g-1-1']) await refused(at(1, verb, id), 404, 'not_found')
    }
    await refused(user(1)('DELETE', `${rouletteUrl}/${other.id}`), 404, 'not_found')
    await refused(at(2, 'leave'), 422, 'not_joined')
    await refused(at(2, 'finish'), 403, 'not_in_game')
    for (const [body, field] of [
      [{ game_price: undefined, max_players: undefined }, 'game_price'],
      [{ max_players: undefined }, 'max_players'],
      [{ game_price: 0 }, 'game_price'],
      [{ game_price: 10_000_001 }, 'game_price'],
      [{ max_players: 1 }, 'max_players'],
      [{ max_players: 51 }, 'max_players'],
      [{ join_admin: 'yes' }, 'join_admin'],
      [{ client_seed: '' }, 'client_seed'],
      [{ client_seed: 'a|b' }, 'client_seed'],
      [{ client_seed: 'x'.repeat(65) }, 'client_seed'],
    ] as const) {
      const expected = { status: 422, body: { code: 'validation_failed', errors: { [field]: [String] } } }
      t.match(await create(5, 'R3', body), expected, JSON.stringify(body))
    }
    t.match(await user(2)('POST', `${rouletteUrl}/join/${game.id}`, { client_seed: 7 }), {
      status: 422,
      body: { errors: { client_seed: [String] } },
    })
    t.same(await queryRows(database, 'select position from ledger_head'), before, 'nothing happened')

    t.equal((await at(2, 'join')).status, 200)
    await refused(at(3, 'join'), 422, 'game_full', /^Game is full$/)
    t.equal((await at(1, 'finish')).status, 200)
    await refused(at(3, 'join'), 422, 'game_finished', /^Game is finished$/)

    const tooExpensive = dataOf(await create(2, 'R1', { game_price: 10_000_000, max_players: 50 }))
    t.equal(tooExpensive.prize, 500_000_000)
    await user(2)('DELETE', `${rouletteUrl}/${tooExpensive.uid}`)
    await refused(create(3, 'R1', { game_price: 1_000, join_admin: '1' }), 422, 'insufficient_balance')
    t.same((await user(3)('GET', rouletteUrl)).body, { data: null }, 'no game of a creator who cannot pay')
    for (const room of ['R3', 3]) t.equal((await user(3)('GET', `/v1/rooms/${room}/games/roulette`)).status, 404)
    t.equal((await operator('GET', rouletteUrl)).status, 403)
  })

  await t.test('a retry pays nothing twice', async (t) => {
    const key = (name: string) => ({ 'idempotency-key': name })
    // Chance decides who has lost the games before.
    for (const id of [1, 2]) {
      const gift = { currency: 'coins', amount: 100, reason: 'to play on' }
      t.equal((await operator('POST', `/admin/v1/users/${id}/credits`, gift)).status, 201)
    }
    const sumOfBoth = () =>
      queryRows(database, `select sum(balance)::text as sum from balances where account ~ '^user:[12]:coins'`)
    const before = await sumOfBoth()
    const terms = { game_price: 30, max_players: 2, join_admin: 1 }
    const again = ({ text }: { readonly text: string }) => ({ text, headers: { 'idempotency-replayed': 'true' } })
    const made = await user(1)('POST', `${rouletteUrl}/create`, terms, key('a'))
    const sameTerms = { ...terms, join_admin: true }
    t.match(await user(1)('POST', `/api${rouletteUrl}/create/`, sameTerms, key('a')), { status: 201, ...again(made) })
    t.match(await user(1)('POST', `${rouletteUrl}/create`, { ...terms, game_price: 31 }, key('a')), {
      status: 422,
      body: { code: 'idempotency_key_reused' },
    })
    const { id } = dataOf(made)
    const joined = await user(2)('POST', `${rouletteUrl}/join/${id}`, {}, key('a'))
    const won = await user(2)('POST', `${rouletteUrl}/finish/${id}`, {}, key('b'))
    t.match(await user(2)('POST', `${rouletteUrl}/join/${id}`, {}, key('a')), again(joined))
    t.match(await user(2)('POST', `${rouletteUrl}/finish/${id}`, undefined, key('b')), again(won))

    const next = dataOf(await user(1)('POST', `${rouletteUrl}/create`, terms))
    await user(2)('POST', `${rouletteUrl}/join/${next.uid}`)
    const left = await user(2)('POST', `${rouletteUrl}/leave/${next.uid}`, undefined, key('c'))
    t.match(left, { status: 200, body: { data: { pot: 30 } } })
    t.match(await user(2)('POST', `/api${rouletteUrl}/leave/${next.uid}/`, {}, key('c')), again(left))
    const late = await user(2)('POST', `${rouletteUrl}/leave/${next.id}`, undefined, key('d'))
    t.match(late, { status: 422, body: { code: 'not_joined' } })
    const gone = await user(1)('DELETE', `${rouletteUrl}/${next.id}`, undefined, key('c'))
    t.match(await user(1)('DELETE', `/api${rouletteUrl}/${next.id}/`, undefined, key('c')), again(gone))
    t.match(await user(2)('POST', `${rouletteUrl}/leave/${next.id}`, undefined, key('d')), again(late), 'refusals, too')
    t.same(await sumOfBoth(), before)
  })
  t.same((await verifyDatabase(database)).findings, [])
  t.same([...ledger.bugs, ...ledger.failures], [])
})
