import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type Kysely, sql } from 'kysely'
import { RouletteEntry } from '../../../schema/events.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { Verdict } from '../../features/fairness/verdict.ts'
import { gameAccount, potOf } from '../../features/roulette/game.ts'
import { checkSpin } from '../../features/roulette/reads.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import { positionsOf, readEventsAt } from '../events/stored-events.ts'
import { amountCell, codeCell, numberCell, statusCell, type Tone, textCell, timeCell } from '../layout/cells.ts'
import { eventCell, idCell, personCell } from '../layout/links.ts'
import { column, type List, type ListRequest, type ListRows, NumberQuery, numberColumn } from '../lists/list.ts'
import { readUserNames } from '../users/find-user.ts'

const Entries = TypeCompiler.Compile(Type.Array(RouletteEntry))
const StoredSpin = TypeCompiler.Compile(
  Type.Object({ server_seed: Type.String(), entries_hash: Type.String(), draw: Type.Integer() }),
)

/** Events of one game that its page shows, from its first one. */
const MAX_EVENTS = 500

export interface GameDetails {
  readonly game_id: number
  readonly uid: string
  readonly room_id: number
  readonly creator_id: number
  readonly status: string
  /** Coins, like the pot and the prize: while open the prize of a full game. */
  readonly game_price: number
  readonly pot: number
  readonly prize: number
  readonly max_players: number
  readonly fee_percent: number
  readonly incarnation: string
  readonly commitment: string
  /** In the order of joining. */
  readonly entries: readonly RouletteEntry[]
  readonly winner_id: number | null
  readonly spin: { readonly server_seed: string; readonly entries_hash: string; readonly draw: number } | null
  readonly created_at: Micros
  readonly ended_at: Micros | null
  readonly end_position: number | null
  /** Names by user id; without those that were erased. */
  readonly names: ReadonlyMap<number, string>
  /** Its events in order. */
  readonly events: readonly StoredEvent[]
  readonly hasMoreEvents: boolean
  /** The check of a finished game: its row against what the ledger published. */
  readonly verdict: Verdict | null
}

/** A game with its events and, once it was finished, the check of its spin; undefined when there is none with this id. */
export async function readGameDetails(db: Kysely<Tables>, id: number): Promise<GameDetails | undefined> {
  const row = await db
    .selectFrom('roulette_games as g')
    .select(['g.game_id', 'g.uid', 'g.room_id', 'g.creator_id', 'g.status', 'g.game_price', 'g.prize', 'g.max_players'])
    .select(['g.fee_percent', 'g.incarnation', 'g.commitment', 'g.entries', 'g.winner_id', 'g.spin', 'g.end_position'])
    .select([micros('g.created_at').as('created_at'), micros('g.ended_at').as('ended_at')])
    .where('g.game_id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const entries: unknown = JSON.parse(row.entries)
  const spin: unknown = row.spin === null ? null : JSON.parse(row.spin)
  if (!Entries.Check(entries)) throw new Error(`the entries of game ${id} are malformed`)
  if (spin !== null && !StoredSpin.Check(spin)) throw new Error(`the spin of game ${id} is malformed`)
  const pot = potOf({ entries })
  const [events, verdict] = await Promise.all([
    readEvents(db, id, row.end_position),
    spin === null
      ? null
      : checkSpin(
          db,
          {
            game_uid: row.uid,
            incarnation: row.incarnation,
            commitment: row.commitment,
            ...spin,
            entries: [...entries],
          },
          {
            uid: row.uid,
            status: row.status,
            game_price: row.game_price,
            prize: row.prize,
            pot,
            players_count: entries.length,
            winner: row.winner_id === null ? null : { id: row.winner_id },
          },
        ),
  ])
  const named = [
    row.creator_id,
    ...entries.map(({ user_id }) => user_id),
    ...events.flatMap(({ data }) => ('user_id' in data ? [data.user_id] : [])),
  ]
  return {
    ...row,
    entries,
    spin,
    pot,
    names: await readUserNames(db, named),
    events: events.slice(0, MAX_EVENTS),
    hasMoreEvents: events.length > MAX_EVENTS,
    verdict,
  }
}

/** It was created and ended, and moves its own account whenever somebody joins or leaves; one event more than are shown. */
async function readEvents(db: Kysely<Tables>, id: number, end: number | null): Promise<StoredEvent[]> {
  const last = end ?? Number.MAX_SAFE_INTEGER
  const moved = await positionsOf(db, gameAccount(id), { first: id, last })
  const all = [...new Set([id, ...moved, ...(end === null ? [] : [end])])].toSorted((a, b) => a - b)
  return readEventsAt(db, all.slice(0, MAX_EVENTS + 1))
}

const Status = Type.Union([Type.Literal('open'), Type.Literal('finished'), Type.Literal('cancelled')])
const Filters = Type.Object({
  status: Type.Optional(Status),
  room: NumberQuery,
  /** Who created it or played. */
  user: NumberQuery,
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
