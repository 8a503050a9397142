import { type Static, Type } from '@sinclair/typebox'
import { Flag, Id, Instant, PersonResource, Seconds } from './common.ts'
import { ClientSeed, SpinFairness, SpunFairness } from './fairness.ts'
import { named } from './named.ts'

const uid = (description: string) => Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$', description })

/** Path of a room's games. */
export const RoomGamesParams = Type.Object({ room_uid: uid('uid or id of the room') })
export const GameParams = Type.Object({ room_uid: uid('uid or id of the room'), id: uid('id or uid of the game') })

/** `join_admin` may also come in the query; the body wins. */
export const CreateGameQuery = Type.Object({
  join_admin: Type.Optional({ ...Flag, description: 'whether the creator joins at once, where the body does not say' }),
})

export const CreateGame = named(
  'GameDefinition',
  Type.Object({
    game_price: Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'coins' }),
    max_players: Type.Integer({ minimum: 2, maximum: 50 }),
    join_admin: Type.Optional({ ...Flag, description: 'whether the creator joins at once; not if absent' }),
    client_seed: Type.Optional({ ...ClientSeed, description: "the creator's share in the spin, with join_admin" }),
  }),
)

export const JoinGame = named(
  'GameEntry',
  Type.Object({
    client_seed: Type.Optional({ ...ClientSeed, description: "the player's share in the spin" }),
  }),
)

export const Game = named(
  'Game',
  Type.Object({
    id: Id,
    uid: Type.String(),
    room_uid: Type.String(),
    status: Type.Union([Type.Literal('open'), Type.Literal('finished'), Type.Literal('cancelled')]),
    game_price: Type.Integer({ description: 'coins' }),
    prize: Type.Integer({
      description: 'coins: what the winner of a full game gets; once finished, what the winner was paid',
    }),
    max_players: Type.Integer(),
    players_count: Type.Integer(),
    pot: Type.Integer({ description: 'coins that were paid in' }),
    players: Type.Array(PersonResource),
    from: PersonResource,
    winner: Type.Union([PersonResource, Type.Null()]),
    fairness: SpinFairness,
    created_at: { ...Seconds, description: 'YYYY-MM-DD HH:MM:SS, UTC' },
    finished_at: Type.Union([Instant, Type.Null()], {
      description: 'when it was finished or cancelled; ISO 8601 with microseconds, unlike created_at',
    }),
  }),
  'A game of roulette with its players and, once it is finished, its winner and the proof of the spin',
)
export type Game = Static<typeof Game>

export const FinishedGame = named(
  'FinishedGame',
  Type.Object({ ...Game.properties, fairness: SpunFairness, losers: Type.Array(PersonResource) }),
  'A finished game with its winner, the losers and the proof of the spin, as verifyDraw takes it',
)
export type FinishedGame = Static<typeof FinishedGame>

export const Cancelled = Type.Object({ meta: Type.Object({ message: Type.String() }) })

export const PurgeGames = named(
  'GamePurge',
  Type.Object({
    older_than_minutes: Type.Integer({ minimum: 0, maximum: 5_256_000, description: 'since they were created' }),
    dry_run: Type.Optional({ ...Flag, description: 'whether to show only what would be cancelled' }),
  }),
)

/** An old game that stays open: these players cannot be refunded. */
export const SkippedGame = named(
  'SkippedGame',
  Type.Object({
    id: Id,
    uid: Type.String(),
    room_uid: Type.String(),
    code: Type.String({ description: 'balance_limit: a balance would pass 2^53-1' }),
    user_ids: Type.Array(Id),
  }),
)

export const PurgedGames = Type.Object({ games: Type.Array(Game), skipped: Type.Array(SkippedGame) })
export type PurgedGames = Static<typeof PurgedGames>
