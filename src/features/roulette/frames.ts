import type { ChannelEventData } from '../../../schema/channel-events.ts'
import type { Person } from '../../../schema/common.ts'
import { plainSeconds } from '../../ledger/rules/time.ts'
import { eventFrame, type FrameMapper, type Profiles, userProfile } from '../../realtime/frames/frame-mapper.ts'

/** Frames of games, to their rooms. */
export const gameFrames: FrameMapper = {
  'roulette-created': ({ data, position, at }) => [
    eventFrame(`room:${data.room_id}`, 'roulette-wheel-created', { users: [data.creator_id] }, (profiles) => ({
      id: position,
      game_price: data.game_price,
      prize: data.prize,
      max_players: data.max_players,
      from: creator(profiles, data.creator_id),
      created_at: plainSeconds(at),
    })),
  ],
  'roulette-joined': ({ data: { room_id, game_id, user_id } }) => [
    eventFrame(`room:${room_id}`, 'roulette-wheel-joined', { users: [user_id] }, (profiles) => ({
      game_id,
      user: player(profiles, user_id),
    })),
  ],
  'roulette-left': ({ data: { room_id, game_id, user_id } }) => [
    eventFrame(`room:${room_id}`, 'roulette-wheel-left', { users: [user_id] }, (profiles) => ({
      game_id,
      user: player(profiles, user_id),
    })),
  ],
  'roulette-finished': ({ data: { room_id, game_id, winner_id, loser_ids, prize } }) => [
    eventFrame(`room:${room_id}`, 'roulette-wheel-finished', { users: [winner_id, ...loser_ids] }, (profiles) => ({
      game_id,
      winner: player(profiles, winner_id),
      prize,
      losers: loser_ids.map((id) => player(profiles, id)),
    })),
  ],
  'roulette-cancelled': ({ data: { room_id, game_id } }) => [
    eventFrame(`room:${room_id}`, 'roulette-wheel-destroyed', {}, () => ({ game_id })),
  ],
}

function creator(profiles: Profiles, userId: number): Person {
  const { id, name, avatar, uid } = userProfile(profiles, userId)
  return { id, name, avatar, uid }
}

function player(profiles: Profiles, userId: number): ChannelEventData<'roulette-wheel-joined'>['user'] {
  const { id, name, avatar } = userProfile(profiles, userId)
  return { id, name, avatar }
}
