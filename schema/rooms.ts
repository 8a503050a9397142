import { type Static, Type } from '@sinclair/typebox'
import { Amount, Id, Instant, PageQuery, PathId, PersonResource, SearchWord, Text } from './common.ts'
import { arabicForm } from './languages.ts'
import { named } from './named.ts'
import { Game } from './roulette.ts'

/** A room is addressed by its uid or its id. */
export const RoomParams = Type.Object({
  uid: Type.String({
    pattern: '^[0-9A-Za-z_-]{1,64}$',
    description: 'uid of the room, or else its id',
  }),
})

export type RoomParams = Static<typeof RoomParams>

export const RoomsQuery = Type.Object({ ...PageQuery.properties, search: Type.Optional(SearchWord) })

const listedRoom = {
  id: Id,
  uid: Type.String(),
  name: Type.String(),
  cover_url: Type.String(),
  owner: PersonResource,
  members_count: Type.Integer({ minimum: 0, description: 'members now, the owner included' }),
  trophy_points: Amount,
  created_at: Instant,
}

/** A room in a list. */
export const ListedRoom = named(
  'ListedRoom',
  Type.Object(listedRoom),
  'A room with its owner and the number of its members',
)
export type ListedRoom = Static<typeof ListedRoom>

export const RoomResource = named(
  'Room',
  Type.Object({
    ...listedRoom,
    active_roulette_game: Type.Union([Game, Type.Null()], { description: 'the open game, if there is one' }),
  }),
  'A room with its owner, the number of its members and its open game, if there is one',
)
export type RoomResource = Static<typeof RoomResource>

export const RoomMember = named(
  'RoomMember',
  Type.Object({ ...PersonResource.properties, joined_at: Instant }),
  'A member of the room, with the time of joining',
)
export type RoomMember = Static<typeof RoomMember>

/** The answer of a request that leaves nothing to show. */
export const RoomLeft = Type.Object({ meta: Type.Object({ message: Type.String() }) })

export const MemberParams = Type.Object({ id: PathId, user_id: PathId })

export const DefineRoom = named(
  'RoomDefinition',
  Type.Object({
    uid: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Za-z_-]{1,64}$',
        description: '1 to 64 of 0-9 A-Z a-z _ -; not the id of another room',
        ...arabicForm('من 1 إلى 64 حرفًا من 0-9 وA-Z وa-z و_ و-، وألا تكون رقم id لغرفة أخرى'),
      }),
    ),
    name: Type.Optional(Text(100)),
    cover_url: Type.Optional(Text(500)),
    owner_id: Type.Optional(Id),
  }),
)

export const RoomRecord = named(
  'RoomRecord',
  Type.Object({
    id: Id,
    uid: Type.String(),
    name: Type.String(),
    cover_url: Type.String(),
    owner_id: Id,
    trophy_points: Amount,
    created_at: Instant,
  }),
  'A room as operators define it, with its trophy points',
)
export type RoomRecord = Static<typeof RoomRecord>
