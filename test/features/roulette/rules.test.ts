import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/common.ts'
import { spin, spinCommitment, spinSeeds } from '../../../src/features/fairness/algorithms.ts'
import { roomMemberKey, roomMembers } from '../../../src/features/rooms/member.ts'
import { finishGame } from '../../../src/features/roulette/finish.ts'
import { gameAccount, games, openGames } from '../../../src/features/roulette/game.ts'
import type { OpenGame } from '../../../src/features/roulette/open.ts'
import { joinGame } from '../../../src/features/roulette/seats.ts'
import { userProfiles } from '../../../src/features/users/user.ts'
import { account, balanceOf, balances, transfer } from '../../../src/ledger/rules/account.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { credited } from '../../harness/ledger/event-fixtures.ts'
import {
  beginIncarnation,
  FIXED_NOW,
  type GivenWhen,
  OTHER_INCARNATION,
  testIncarnation,
} from '../../harness/ledger/given-when.ts'
import { testSpins } from '../../harness/ledger/test-executor.ts'
import { gameInput, movementLines, open, openedGame, rouletteRules } from './game-rules-fixture.ts'

const coins = ({ state }: Pick<GivenWhen, 'state'>, ...users: number[]) =>
  users.map((id) => balanceOf(state, account('user', id, 'coins')))

test('a game is created and its creator joins', async (t) => {
  const { when, state } = rouletteRules()
  const { events, answer } = when(open(7), { ...gameInput, client_seed: 'mine' })
  const [created, joined] = events
  const id = created?.position ?? 0
  const uid = `g-${id}-${FIXED_NOW.toString(36)}`
  const commitment = spinCommitment(uid, testSpins.seed({ incarnation: testIncarnation, uid }))
  t.match(created, {
    type: 'roulette-created',
    data: { room_id: 1, game_uid: uid, creator_id: 1, game_price: 30, max_players: 3, fee_percent: 7, prize: 83 },
    movements: [],
  })
  t.match(created?.data, { commitment, fairness_key: testSpins.keyHash })
  t.match(joined, { type: 'roulette-joined', data: { game_id: id, user_id: 1, stake: 30, client_seed: 'mine' } })
  t.same(movementLines(joined), [`user:1:coins > game:${id}:coins 30`])
  t.match(answer?.game, { uid, incarnation: testIncarnation, commitment })
  t.match(state.get(openGames, '1'), { game_id: id })
  t.equal(balanceOf(state, gameAccount(id)), 30)

  const alone = when(open(), { ...gameInput, room: 'R2', join_admin: false })
  t.equal(alone.events.length, 1)
  t.match(alone.answer, { game: { room_id: 2, prize: 90, entries: [] }, creator: { id: 1 } })
})

// Each row breaks its own rule and those of the rows below it: the order is the order of precedence.
test('refusals of a new game, in order', async (t) => {
  const rows: readonly (readonly [Partial<OpenGame>, string])[] = [
    [{ room: 7, caller_id: 5, game_price: 200 }, 'not_found'],
    [{ room: 'nowhere', caller_id: 5, game_price: 200 }, 'not_found'],
    [{ room: 'R1', caller_id: 5, game_price: 200 }, 'not_room_member'],
    [{ room: 'R1', caller_id: 2, game_price: 200 }, 'game_already_open'],
    [{ room: 'R2', caller_id: 2, game_price: 200 }, 'insufficient_balance'],
  ]
  for (const [change, refusal] of rows) {
    const { when } = openedGame()
    t.match(when(open(), { ...gameInput, ...change }), { refusal: { refusal }, events: [] }, refusal)
  }
  const { when } = rouletteRules()
  t.equal(
    when(open(), { ...gameInput, game_price: 101, join_admin: false }).refusal,
    undefined,
    'a creator who does not join',
  )
})

test('a player who leaves is refunded and may join again as the last player', async (t) => {
  const { game, join, leave, state } = openedGame()
  join(2)
  const left = leave(1, { game: game.uid, room: 'R1' })
  t.match(left.events, [{ type: 'roulette-left', data: { game_id: game.id, room_id: 1, user_id: 1, stake: 30 } }])
  t.same(movementLines(left.events[0]), [`game:${game.id}:coins > user:1:coins 30`])
  t.match(left.answer, { status: 'open', players_count: 1, pot: 30, players: [{ id: 2 }] })
  t.same(coins({ state }, 1, 2), [100, 70])
  const again = join(1)
  t.match(again.answer, { players: [{ id: 2 }, { id: 1 }] })
  t.same(
    state.get(games, String(game.id))?.entries.map(({ entry, user_id }) => [entry, user_id]),
    [
      [(again.events[0]?.position ?? 0) - 2, 2],
      [again.events[0]?.position, 1],
    ],
  )
})

test('the winner is drawn and paid, less the fee', async (t) => {
  const { game, join, finish, state } = openedGame({ client_seed: 'one' }, 7)
  join(2)
  join(3, { client_seed: 'three' })
  const { events, answer } = finish(3, { game: game.uid })
  const [finished] = events
  if (finished?.type !== 'roulette-finished') throw new Error('the game was not finished')
  const seed = testSpins.seed({ incarnation: testIncarnation, uid: game.uid })
  const entries = [
    { entry: game.id + 1, user_id: 1, stake: 30, client_seed: 'one' },
    { entry: game.id + 2, user_id: 2, stake: 30, client_seed: '' },
    { entry: game.id + 3, user_id: 3, stake: 30, client_seed: 'three' },
  ]
  const { r } = spin(seed, game.uid, entries)
  const winner = r + 1
  t.match(finished.data, { game_id: game.id, room_id: 1, winner_id: winner, prize: 83, fee: 7, entries, draw: r })
  t.same(
    finished.data.loser_ids,
    [1, 2, 3].filter((id) => id !== winner),
  )
  t.same(movementLines(finished), [
    `game:${game.id}:coins > user:${winner}:coins 83`,
    `game:${game.id}:coins > house:roulette:coins 7`,
  ])
  t.same(
    coins({ state }, 1, 2, 3),
    [1, 2, 3].map((id) => (id === winner ? 153 : 70)),
  )
  t.equal(balanceOf(state, gameAccount(game.id)), 0)
  t.equal(state.get(openGames, '1'), undefined)
  t.match(answer, { status: 'finished', prize: 83, pot: 90, losers: finished.data.loser_ids.map((id) => ({ id })) })
  t.same(answer?.fairness, {
    algorithm: 'rr1',
    game_uid: game.uid,
    incarnation: testIncarnation,
    commitment: game.fairness.commitment,
    server_seed: Buffer.from(seed).toString('hex'),
    entries,
    entries_hash: finished.data.entries_hash,
    draw: r,
  })
})

test('the prize is rounded down, and a prize of 0 makes no movement', async (t) => {
  const odd = openedGame({ game_price: 1 }, 33)
  odd.join(2)
  t.same(
    odd.finish(1).events[0]?.movements.map(({ amount }) => amount),
    [1, 1],
    '67% of 2',
  )
  const greedy = openedGame({}, 100)
  greedy.join(2)
  const { events, answer } = greedy.finish(1)
  t.same(movementLines(events[0]), [`game:${greedy.game.id}:coins > house:roulette:coins 60`])
  t.equal(answer?.prize, 0)
})

test('a game from before commits were lost is as good as cancelled', async (t) => {
  const { game, at, join, leave, finish, cancel, when, state } = openedGame()
  join(2)
  beginIncarnation(state, OTHER_INCARNATION)
  const refused = { events: [], refusal: { refusal: 'game_cancelled' } }
  t.match(join(3), refused)
  t.match(join(1), refused, 'also for who has joined')
  t.match(finish(1), refused)
  t.match(finish(4), { refusal: { refusal: 'not_in_game' } }, 'who may not finish it learns nothing')
  t.match(leave(3), { refusal: { refusal: 'not_joined' } })
  t.match(leave(2).answer, { id: game.id, players_count: 1, fairness: { incarnation: testIncarnation } })
  t.match(cancel(1).events, [{ type: 'roulette-cancelled', data: { player_ids: [1] } }])
  t.same(coins({ state }, 1, 2, 3), [100, 100, 100])
  const { answer } = when(open(), { ...gameInput, game_price: 10 })
  t.match(answer?.game, { incarnation: OTHER_INCARNATION })
  t.equal(when(joinGame, at(2, { game: answer?.game.game_id ?? 0 })).refusal, undefined, 'a game of the new one')
})

type Table = ReturnType<typeof openedGame>
type Action = 'join' | 'leave' | 'finish' | 'cancel'

/** Preparations for the command that is refused. */
const fill = ({ join }: Table) => void [join(2), join(3)]
const end = (table: Table) => void [table.join(2), table.finish(1)]
const destroy = (table: Table) => void [table.join(2), table.cancel(1)]
const poor = ({ state }: Table) => state.set(balances, 'user:4:coins', { account: 'user:4:coins', balance: 29n })

test('refusals of changes to a game, in order', async (t) => {
  const elsewhere = { room: 2 }
  const rows: readonly (readonly [
    Action,
    number,
    Parameters<Table['at']>[1],
    readonly ((table: Table) => void)[],
    string,
  ])[] = [
    ['join', 5, { room: 7 }, [end], 'not_found'],
    ['join', 5, { room: 'nowhere' }, [end], 'not_found'],
    ['join', 5, { game: 1 }, [end], 'not_found'],
    ['join', 5, { game: 99 }, [end], 'not_found'],
    ['join', 5, { game: 'g-99-0' }, [end], 'not_found'],
    ['join', 5, { game: 'nothing' }, [end], 'not_found'],
    ['join', 1, elsewhere, [], 'not_found'],
    ['join', 5, {}, [fill, end], 'not_room_member'],
    ['join', 1, {}, [end], 'game_finished'],
    ['join', 1, {}, [destroy], 'game_cancelled'],
    ['join', 1, {}, [fill, poor], 'already_joined'],
    ['join', 4, {}, [fill, poor], 'game_full'],
    ['join', 4, {}, [poor], 'insufficient_balance'],

    ['leave', 4, elsewhere, [end], 'not_found'],
    ['leave', 4, {}, [end], 'game_finished'],
    ['leave', 1, {}, [end], 'game_finished'],
    ['leave', 4, {}, [destroy], 'game_cancelled'],
    ['leave', 4, {}, [], 'not_joined'],

    ['finish', 4, elsewhere, [end], 'not_found'],
    ['finish', 4, {}, [end], 'not_in_game'],
    ['finish', 2, {}, [end], 'game_finished'],
    ['finish', 1, {}, [end], 'game_finished'],
    ['finish', 2, {}, [destroy], 'game_cancelled'],
    ['finish', 1, {}, [], 'not_enough_players'],

    ['cancel', 4, elsewhere, [end], 'not_found'],
    ['cancel', 2, {}, [end], 'not_game_creator'],
    ['cancel', 9, {}, [], 'not_game_creator'],
    ['cancel', 1, {}, [end], 'game_finished'],
    ['cancel', 1, {}, [destroy], 'game_cancelled'],
  ]
  for (const [does, user, others, before, refusal] of rows) {
    const table = openedGame()
    for (const arrange of before) arrange(table)
    t.match(
      table[does](user, others),
      { refusal: { refusal }, events: [] },
      `${does} ${JSON.stringify(others)} ${refusal}`,
    )
  }
})

test('a uid must match exactly, and the creator may finish a game without being in it', async (t) => {
  const { game, join, finish } = openedGame({ join_admin: false })
  for (const uid of [`g-${game.id}-0`, `${game.uid}0`, game.uid.toUpperCase(), `g-0${game.uid.slice(2)}`]) {
    t.match(join(2, { game: uid }).refusal, { refusal: 'not_found' }, uid)
  }
  join(2)
  t.match(finish(1).refusal, { refusal: 'not_enough_players' })
  join(3)
  t.match(finish(1).answer, { status: 'finished', players_count: 2, pot: 60 })
})

test('no payment exceeds the largest balance', async (t) => {
  for (const does of ['leave', 'finish', 'cancel'] as const) {
    const table = openedGame({ game_price: 30 })
    table.join(2)
    table.given(...[1, 2].map((id) => credited('user', id, 'coins', MAX_INTEGER - 99)))
    t.match(table[does](1), { refusal: { refusal: 'balance_limit' }, events: [] }, does)
  }
})

test('a finish is refused when any player’s balance could not take the prize, even if another would win', async (t) => {
  for (const rich of [1, 2, 3]) {
    const table = openedGame()
    table.join(2)
    table.join(3)
    // Each has 70 left and can win 90.
    table.given(credited('user', rich, 'coins', MAX_INTEGER - 70 - 89))
    t.match(table.finish(1), { refusal: { refusal: 'balance_limit' }, events: [] }, `user ${rich}`)
  }
  const table = openedGame()
  table.join(2)
  table.join(3)
  for (const user of [1, 2, 3]) table.given(credited('user', user, 'coins', MAX_INTEGER - 70 - 90))
  t.match(table.finish(1).answer, { status: 'finished' }, 'a prize that just fits is paid')
})

test("a spin with another fairness key than the game's throws", async (t) => {
  const { join, when, at } = openedGame()
  join(2)
  t.throws(() => when(finishGame(spinSeeds('another key')), at(1)), /another seed/)
})

test('former members can leave and finish; players with an erased profile can play', async (t) => {
  const { join, leave, finish, state } = openedGame()
  join(2)
  state.set(roomMembers, roomMemberKey(1, 2), undefined)
  state.set(userProfiles, '2', undefined)
  t.match(leave(1).answer, { players: [{ id: 2, name: '', avatar: '', uid: '' }] })
  join(3)
  t.match(finish(2).answer, { status: 'finished' })
})

test('events that no verb could have written cannot be applied', async (t) => {
  const full = openedGame({ max_players: 2 })
  const ref = { game_id: full.game.id, room_id: 1 }
  const pays = (user: number) => [transfer(account('user', user, 'coins'), gameAccount(ref.game_id), 30)]
  const won = {
    winner_id: 2,
    loser_ids: [1],
    prize: 60,
    fee: 0,
    entries: [],
    draw: 0,
    server_seed: '0'.repeat(64),
    entries_hash: '0'.repeat(64),
  }
  const forged: readonly (readonly [LedgerEvent, RegExp])[] = [
    [{ type: 'roulette-cancelled', data: { ...ref, player_ids: [] }, movements: [] }, /holds 60 coins instead of 0/],
    [{ type: 'roulette-left', data: { ...ref, user_id: 1, stake: 30 }, movements: [] }, /holds 60 .* instead of 30/],
    [
      { type: 'roulette-joined', data: { ...ref, user_id: 3, stake: 30, client_seed: '' }, movements: pays(3) },
      /more players than max_players/,
    ],
    [{ type: 'roulette-finished', data: { ...ref, ...won }, movements: [] }, /user 2 did not win/],
    [{ type: 'roulette-finished', data: { ...ref, ...won, draw: 1 }, movements: [] }, /holds 60 coins instead of 0/],
  ]
  for (const [event, why] of forged) {
    const table = openedGame({ max_players: 2 })
    table.join(2)
    t.throws(() => table.given(event), why)
  }
  full.cancel(1)
  t.throws(
    () => full.given({ type: 'roulette-left', data: { ...ref, user_id: 1, stake: 30 }, movements: [] }),
    /is not open/,
  )
})
