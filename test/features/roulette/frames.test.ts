import { test } from 'tap'
import { gameFrames } from '../../../src/features/roulette/frames.ts'
import type { LedgerEvent, PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { framesFrom } from '../../realtime/frame-fixtures.ts'

const atGame = { game_id: 20, room_id: 7 }
const placed = <T extends LedgerEvent['type']>(type: T, data: LedgerEvent<T>['data']): PositionedEvent<T> =>
  Object({ type, data, movements: [], position: 20, at: FIXED_NOW })

const [amina, badr, carmen] = [
  { id: 1, name: 'Amina', avatar: 'avatars/1.png' },
  { id: 2, name: 'Badr', avatar: 'avatars/2.png' },
  { id: 3, name: 'Carmen', avatar: 'avatars/3.png' },
]
const erased = { id: 9, name: '', avatar: '' }

test('each event of a game sends its frame to the room', async (t) => {
  const spin = {
    fee: 0,
    server_seed: 'a'.repeat(64),
    entries: [],
    entries_hash: 'b'.repeat(64),
    draw: 1,
  }
  const created = {
    room_id: 7,
    game_uid: 'g-20-x',
    creator_id: 1,
    game_price: 100,
    max_players: 4,
    fee_percent: 5,
    prize: 380,
    incarnation: 'e'.repeat(32),
    commitment: 'c'.repeat(64),
    fairness_key: 'd'.repeat(64),
  }
  const rows: readonly (readonly [PositionedEvent, string, object])[] = [
    [
      placed('roulette-created', created),
      'roulette-wheel-created',
      {
        id: 20,
        game_price: 100,
        prize: 380,
        max_players: 4,
        from: { ...amina, uid: 'amina' },
        created_at: '2026-11-21 08:00:00',
      },
    ],
    [
      placed('roulette-joined', { ...atGame, user_id: 2, stake: 100, client_seed: 'mine' }),
      'roulette-wheel-joined',
      { game_id: 20, user: badr },
    ],
    [
      placed('roulette-left', { ...atGame, user_id: 9, stake: 100 }),
      'roulette-wheel-left',
      { game_id: 20, user: erased },
    ],
    [
      placed('roulette-finished', { ...atGame, winner_id: 2, loser_ids: [3, 9, 1], prize: 285, ...spin }),
      'roulette-wheel-finished',
      { game_id: 20, winner: badr, prize: 285, losers: [carmen, erased, amina] },
    ],
    [placed('roulette-cancelled', { ...atGame, player_ids: [1] }), 'roulette-wheel-destroyed', { game_id: 20 }],
  ]
  for (const [event, name, data] of rows) {
    t.same(framesFrom(gameFrames, event), [{ channel: 'room:7', event: name, data }], name)
  }
})
