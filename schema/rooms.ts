import { type Static, Type } from '@sinclair/typebox'
import { Amount, Id, Instant, PersonResource } from './common.ts'
import { named } from './named.ts'
import { Game } from './roulette.ts'

/** A room is addressed by its uid or its id. */
export const RoomParams = Type.Object({
  uid: Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$', description: 'uid or id of the room' }),
})

export const RoomResource = named(
  'Room',
  Type.Object({
    id: Id,
    uid: Type.String(),
    name: Type.String(),
    cover_url: Type.String(),
    owner: PersonResource,
    members_count: Type.Integer({ minimum: 0 }),
    trophy_points: Amount,
    created_at: Instant,
    active_roulette_game: Type.Union([Game, Type.Null()], { description: 'the open game, if there is one' }),
  }),
)
export type RoomResource = Static<typeof RoomResource>
