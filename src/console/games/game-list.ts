import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { amountCell, codeCell, numberCell, statusCell, type Tone, textCell, timeCell } from '../frame/cells.ts'
import { eventCell, idCell, personCell } from '../frame/links.ts'
import { column, type List, type ListRequest, type ListRows, numberColumn } from '../lists/list.ts'

const Status = Type.Union([Type.Literal('open'), Type.Literal('finished'), Type.Literal('cancelled')])
const IdFilter = Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' }))
const Filters = Type.Object({
  status: Type.Optional(Status),
  room: IdFilter,
  /** Who created it or played. */
  user: IdFilter,
})
type Query = Static<typeof Filters> & { readonly sort?: string }

interface Row {
  readonly id: number
  /** As of the position that the list is pinned to, like `players`. */
  readonly status: string
  readonly room_id: number
  readonly creator_id: number
  readonly creator_name: string | null
  readonly game_price: number
  readonly players: number
  readonly max_players: number
  /** Coins. */
  readonly pot: number
  /** Null unless it was finished. */
  readonly prize: number | null
  readonly winner_id: number | null
  readonly winner_name: string | null
  readonly created_at: Micros
  readonly ended_at: Micros | null
  readonly end_position: number | null
}

/** Games that one page looks through for those of a room or user; what is left is for the next page. */
const MAX_SEARCHED_GAMES = 20_000

const tones: Readonly<Record<string, Tone>> = { open: 'waiting', finished: 'good', cancelled: 'neutral' }
export const gameToneOf = (status: string): Tone => tones[status] ?? 'neutral'

export const gameList: List<typeof Filters, Row> = {
  label: 'Games',
  filters: Filters,
  columns: [
    column('id', 'Game', ({ id }) => idCell('game', id), 'created'),
    column('status', 'Status', ({ status }) => statusCell(status, gameToneOf(status))),
    column('room', 'Room', ({ room_id }) => codeCell(String(room_id))),
    column('creator', 'Created by', ({ creator_id, creator_name }) => personCell(creator_id, creator_name)),
    numberColumn('stake', 'Stake', ({ game_price }) => amountCell('coins', game_price)),
    numberColumn('players', 'Players', ({ players, max_players }) => ({
      ...numberCell(players),
      text: `${players} of ${max_players}`,
    })),
    numberColumn('pot', 'Pot', ({ pot }) => amountCell('coins', pot)),
    numberColumn('prize', 'Prize', ({ prize }) => amountCell('coins', prize)),
    numberColumn('fee', 'Fee', ({ pot, prize }) => amountCell('coins', prize === null ? null : pot - prize)),
    column('winner', 'Winner', ({ winner_id, winner_name }) =>
      winner_id === null ? textCell(null) : personCell(winner_id, winner_name),
    ),
    column('created_at', 'Created', ({ created_at }) => timeCell(created_at)),
    column('ended_at', 'Ended', ({ ended_at }) => timeCell(ended_at)),
    column('end_event', 'Last event', ({ end_position }) => eventCell(end_position)),
  ],
  empty: 'No game has these properties here. Clear the filters, or look at the next page if there is one.',
  read: readGames,
}

async function readGames({ query, db, at, cursor, limit }: ListRequest<Query>): Promise<ListRows<Row>> {
  const { status = '', room = '', user = '', sort } = query
  const isAscending = sort === 'created'
  const [lastId] = cursor === null ? [isAscending ? 0 : Number.MAX_SAFE_INTEGER] : decodeCursor(cursor, 1)
  const isAfter = isAscending ? sql`>` : sql`<`
  const direction = isAscending ? sql`asc` : sql`desc`
  // A game that ended later was open then. Who had left by then is not in its row, only in its events.
  const { rows } = await sql<Row & { readonly searched: number; readonly end: number; readonly matches: boolean }>`
    with candidates as materialized (
      select g.*, coalesce(g.end_position > ${at}, true) as is_open
      from roulette_games g
      where g.game_id <= ${at} and g.game_id ${isAfter} ${lastId}
      order by g.game_id ${direction} limit ${MAX_SEARCHED_GAMES}
    ), found as (
      select * from candidates g
      where (${room} = '' or g.room_id = ${room === '' ? 0 : Number(room)})
        and (${status} = '' or ${status} = case when g.is_open then 'open' else g.status end)
        and (${user} = '' or g.creator_id = ${user === '' ? 0 : Number(user)}
             or g.entries like ${`%"user_id":${Number(user)},%`})
      order by g.game_id ${direction} limit ${limit + 1}
    )
    select c.searched, c.end, g.game_id is not null as matches, g.game_id as id,
           case when g.is_open then 'open' else g.status end as status, g.room_id, g.creator_id,
           u.name as creator_name, g.game_price, e.players, g.max_players, e.pot,
           case when not g.is_open and g.status = 'finished' then g.prize end as prize,
           case when not g.is_open then g.winner_id end as winner_id, w.name as winner_name,
           ${micros('g.created_at')} as created_at,
           case when not g.is_open then ${micros('g.ended_at')} end as ended_at,
           case when not g.is_open then g.end_position end as end_position
    from (select count(*) as searched, ${isAscending ? sql`max(game_id)` : sql`min(game_id)`} as end from candidates) c
    left join found g on true
    left join lateral (
      select count(*) as players, coalesce(sum((entry->>'stake')::bigint), 0)::bigint as pot
      from json_array_elements(g.entries::json) entry where (entry->>'entry')::bigint <= ${at}
    ) e on true
    left join user_profiles u on u.user_id = g.creator_id
    left join user_profiles w on w.user_id = g.winner_id
    order by g.game_id ${direction}`.execute(db)
  const found = rows.filter(({ matches }) => matches)
  const page = found.slice(0, limit)
  const [{ searched, end } = { searched: 0, end: 0 }] = rows
  const last = page.at(-1)
  if (found.length > limit && last !== undefined) return { rows: page, next: encodeCursor([last.id]) }
  return { rows: page, next: searched === MAX_SEARCHED_GAMES ? encodeCursor([end]) : null }
}
