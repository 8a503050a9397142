import type { ToldData } from '../../../schema/announcements.ts'
import type { Person } from '../../../schema/common.ts'
import { plainSeconds } from '../../ledger/rules/time.ts'
import { announcement, named } from '../../realtime/frames/announcement.ts'
import type { Announcer, Words } from '../../realtime/frames/announcer.ts'

/** What the room of a game is told of it. */
export const gameFrames: Announcer = {
  'roulette-created': ({ data, position, at }) => [
    announcement(`room:${data.room_id}`, 'roulette-wheel-created', { users: [data.creator_id] }, (words) => ({
      id: position,
      game_price: data.game_price,
      prize: data.prize,
      max_players: data.max_players,
      from: creator(words, data.creator_id),
      created_at: plainSeconds(at),
    })),
  ],
  'roulette-joined': ({ data: { room_id, game_id, user_id } }) => [
    announcement(`room:${room_id}`, 'roulette-wheel-joined', { users: [user_id] }, (words) => ({
      game_id,
      user: player(words, user_id),
    })),
  ],
  'roulette-left': ({ data: { room_id, game_id, user_id } }) => [
    announcement(`room:${room_id}`, 'roulette-wheel-left', { users: [user_id] }, (words) => ({
      game_id,
      user: player(words, user_id),
    })),
  ],
  'roulette-finished': ({ data: { room_id, game_id, winner_id, loser_ids, prize } }) => [
    announcement(`room:${room_id}`, 'roulette-wheel-finished', { users: [winner_id, ...loser_ids] }, (words) => ({
      game_id,
      winner: player(words, winner_id),
      prize,
      losers: loser_ids.map((id) => player(words, id)),
    })),
  ],
  'roulette-cancelled': ({ data: { room_id, game_id } }) => [
    announcement(`room:${room_id}`, 'roulette-wheel-destroyed', {}, () => ({ game_id })),
  ],
}

function creator(words: Words, userId: number): Person {
  const { id, name, avatar, uid } = named(words, userId)
  return { id, name, avatar, uid }
}

function player(words: Words, userId: number): ToldData<'roulette-wheel-joined'>['user'] {
  const { id, name, avatar } = named(words, userId)
  return { id, name, avatar }
}
