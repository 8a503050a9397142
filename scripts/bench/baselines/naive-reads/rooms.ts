import type { Pool } from 'pg'
import type { Person } from '../../../../schema/common.ts'
import type { RoomResource } from '../../../../schema/rooms.ts'
import type { Game as PublishedGame } from '../../../../schema/roulette.ts'
import { assetUrl, withAvatarUrl } from '../../../../src/features/asset-url.ts'
import type { Game } from '../../../../src/features/roulette/game.ts'
import { nameGame } from '../../../../src/features/roulette/game-lookup.ts'
import { publishedGame } from '../../../../src/features/roulette/presenters.ts'
import { parseId } from '../../../../src/ledger/rules/parse-id.ts'
import { isoMicros } from '../../../../src/ledger/rules/time.ts'
import { microsOf, personOf, prepared } from './prepared.ts'

/** A room's open game and its people; all null for a room without one. */
type OpenGameRow = Omit<Game, 'game_id' | 'uid' | 'created_at'> & {
  readonly game_id: number | null
  readonly game_uid: string
  readonly game_created_at: number
  readonly people: readonly Person[]
}

const gameColumns = `
  g.game_id, g.uid as game_uid, g.room_id, g.creator_id, g.status, g.game_price, g.max_players, g.fee_percent, g.prize,
  g.entries::json as entries, g.commitment, g.winner_id, g.spin::json as spin, g.end_position,
  ${microsOf('g.created_at')} as game_created_at, ${microsOf('g.ended_at')} as ended_at,
  ${microsOf('g.empty_since')} as empty_since,
  (select json_agg(${personOf('q')})
   from (select g.creator_id as user_id
         union select e.user_id from jsonb_to_recordset(g.entries::jsonb) as e (user_id bigint)) as player
   join user_profiles q using (user_id)) as people`

const gameJoins = `
  left join roulette_open_games og on og.room_id = p.room_id
  left join roulette_games g on g.game_id = og.game_id`

const toGame = (
  { game_id, game_uid, game_created_at, people, ...row }: OpenGameRow,
  roomUid: string,
  assetBaseUrl: string,
) => {
  if (game_id === null) return null
  const game: Game = { ...row, game_id, uid: game_uid, created_at: game_created_at }
  const person = (id: number): Person => people.find((one) => one.id === id) ?? { id, name: '', avatar: '', uid: '' }
  return publishedGame(nameGame(game, roomUid, person), assetBaseUrl)
}

/** Asks for a room by its id or by its uid. */
const byRef = <Row extends object>(name: string, text: string) => {
  const byId = prepared<Row>(`${name} by id`, `${text} where p.room_id = $1`)
  const byUid = prepared<Row>(`${name} by uid`, `${text} where p.uid = $1`)
  return async (pool: Pool, ref: string): Promise<Row | undefined> => {
    const id = parseId(ref)
    const [row] = await (id === null ? byUid(pool, ref) : byId(pool, id))
    return row
  }
}

type RoomRow = OpenGameRow &
  Omit<RoomResource, 'created_at' | 'active_roulette_game'> & { readonly room_created_at: number }

const roomRow = byRef<RoomRow>(
  'room',
  `select r.room_id as id, p.uid, p.name, p.cover_url, r.trophy_points, ${microsOf('p.created_at')} as room_created_at,
          ${personOf('o')} as owner,
          r.members_count, ${gameColumns}
   from room_profiles p
   join rooms r on r.room_id = p.room_id
   join user_profiles o on o.user_id = r.owner_id ${gameJoins}`,
)

/** A room with its open game; undefined for an unknown room. */
export async function readRoom(pool: Pool, ref: string, assetBaseUrl: string): Promise<RoomResource | undefined> {
  const row = await roomRow(pool, ref)
  if (row === undefined) return undefined
  const { id, uid, name, cover_url, owner, members_count, trophy_points, room_created_at, ...game } = row
  return {
    id,
    uid,
    name,
    cover_url: assetUrl(cover_url, assetBaseUrl),
    owner: withAvatarUrl(owner, assetBaseUrl),
    members_count,
    trophy_points,
    created_at: isoMicros(room_created_at),
    active_roulette_game: toGame(game, uid, assetBaseUrl),
  }
}

const gameRow = byRef<OpenGameRow & { readonly room_uid: string }>(
  'game',
  `select p.uid as room_uid, ${gameColumns} from room_profiles p ${gameJoins}`,
)

/** The open game of a room, null when it has none; undefined for an unknown room. */
export async function readGame(
  pool: Pool,
  ref: string,
  assetBaseUrl: string,
): Promise<PublishedGame | null | undefined> {
  const row = await gameRow(pool, ref)
  if (row === undefined) return undefined
  const { room_uid, ...game } = row
  return toGame(game, room_uid, assetBaseUrl)
}
