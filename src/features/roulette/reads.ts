import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type Kysely, sql } from 'kysely'
import { Amount, Id, MAX_INTEGER, Person } from '../../../schema/common.ts'
import { RouletteEntry } from '../../../schema/events.ts'
import type { VerifySpin } from '../../../schema/fairness.ts'
import { Game as PublishedGame } from '../../../schema/roulette.ts'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { microsOf } from '../../db/queries/expressions.ts'
import { listOf, PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../ledger/storage/stored-event.ts'
import type { Verdict } from '../fairness/verdict.ts'
import { type ActiveGameColumn, requestedRooms, roomRefLists } from '../rooms/reads.ts'
import type { RoomRef } from '../rooms/room.ts'
import { MAX_EMPTY_MINUTES } from './cancel.ts'
import { gameIdOf } from './game.ts'
import { nameGame } from './game-lookup.ts'
import { publishedGame } from './presenters.ts'
import { type GameClaims, verifySpin } from './verify-spin.ts'

type Db = Kysely<Tables>

/** Games as JSON with the profiles of all who are in them, for prepared statements. */
const gamesWhere = (condition: string): string => `(
  select row_to_json(game)
  from (
    select g.game_id, g.uid, g.room_id, g.creator_id, g.status, g.game_price, g.max_players, g.fee_percent, g.prize,
           g.entries::json as entries, g.incarnation, g.commitment, g.winner_id, g.spin::json as spin, g.end_position,
           ${microsOf('g.created_at')} as created_at, ${microsOf('g.ended_at')} as ended_at,
           ${microsOf('g.empty_since')} as empty_since,
           (select coalesce(json_agg(person), '[]')
            from (select p.user_id as id, p.name, p.avatar, p.uid from user_profiles p
                  where p.user_id = any(g.creator_id || array(
                    select (entry->>'user_id')::bigint from json_array_elements(g.entries::json) entry))) person
           ) as people
    from roulette_games g
    where ${condition}) game)`

/** The open game of a room, if it has one. */
export const activeGame: ActiveGameColumn = {
  sql: (roomId) => gamesWhere(`g.game_id = (select o.game_id from roulette_open_games o where o.room_id = ${roomId})`),
  present: presentGame,
}

interface GameOfRoomRow {
  readonly place: number
  readonly room_uid: string
  readonly game: unknown
}

/** `$3` are ids of games; null is the room's open game. */
const gamesOfRooms = new PreparedStatement<GameOfRoomRow>(
  'games of rooms',
  `select requested.place, p.uid as room_uid, ${gamesWhere(`g.room_id = r.room_id and g.game_id = coalesce(
            (${listOf('$3', 'bigint')})[requested.place],
            (select o.game_id from roulette_open_games o where o.room_id = r.room_id))`)} as game
   from ${requestedRooms}`,
)

export interface GameOfRoom {
  readonly room: RoomRef
  /** An id or a uid; null is the room's open game. */
  readonly game: number | string | null
}

const MAX_GAMES_PER_QUERY = 100

/**
 * Finds games of rooms, open or ended, those requested at the same time with one query. Null for a room that does not
 * exist; else `game` is null when the room has no such game.
 */
export const gameLookup = (db: Db, assetBaseUrl: () => string) =>
  new BatchedLookup(
    MAX_GAMES_PER_QUERY,
    async (requested: readonly GameOfRoom[]) => {
      const [ids, uids] = roomRefLists(requested.map(({ room }) => room))
      // No game has the id 0.
      const gameIds = requested.map(({ game }) => (game === null ? null : (gameIdOf(game) ?? 0)))
      const found = requested.map((): { readonly game: PublishedGame | null } | null => null)
      for (const { place, room_uid, game } of await gamesOfRooms.execute(db, [ids, uids, gameIds])) {
        const ref = requested[place - 1]?.game
        const presented = presentGame(game, room_uid, assetBaseUrl())
        found[place - 1] = { game: typeof ref === 'string' && presented?.uid !== ref ? null : presented }
      }
      return found
    },
    requestLimits(db),
  )

/**
 * Open games created at least `minutes` ago by the ledger's clock, oldest first, with ids above `after`.
 */
export async function openGamesOlderThan(db: Db, minutes: number, after: number, limit: number): Promise<number[]> {
  const rows = await selectOldOpenGames(db, minutes, limit).where('g.game_id', '>', after).execute()
  return rows.map(({ game_id }) => game_id)
}

/**
 * The oldest open games created at least `minutes` ago: up to `limit` whose players can be refunded now, and up to
 * `limit` others, so that those cannot crowd out the ones that can be cancelled.
 */
export async function purgeCandidates(db: Db, minutes: number, limit: number): Promise<number[]> {
  const [payable, others] = await Promise.all([
    selectOldOpenGames(db, minutes, limit)
      .where((eb) => eb.not(hasUnpayablePlayer))
      .execute(),
    selectOldOpenGames(db, minutes, limit).where(hasUnpayablePlayer).execute(),
  ])
  return [...payable, ...others].map(({ game_id }) => game_id).toSorted((a, b) => a - b)
}

/** A game with a player whose balance cannot take the refund now. */
const hasUnpayablePlayer = sql<boolean>`exists (
  select from jsonb_to_recordset(g.entries::jsonb) as e(user_id bigint, stake numeric)
  join balances b on b.account = 'user:' || e.user_id || ':coins'
  where b.balance + e.stake > ${MAX_INTEGER}::numeric)`

/** Games that `cancelStaleGames` would cancel, by the ledger's clock, without those that cannot be refunded. */
export async function findStaleGames(db: Db, maxOpenMinutes: number | null, limit: number): Promise<number[]> {
  const ago = (minutes: number) =>
    sql<string>`(select greatest(clock_timestamp(), at) from ledger_head) - make_interval(mins => ${minutes})`
  const rows = await db
    .selectFrom('roulette_games as g')
    .select('g.game_id')
    .where('g.status', '=', 'open')
    .where((eb) =>
      eb.or([
        eb('g.empty_since', '<=', ago(MAX_EMPTY_MINUTES)),
        eb('g.incarnation', '<>', eb.selectFrom('ledger_incarnation').select('incarnation')),
        ...(maxOpenMinutes === null ? [] : [eb('g.created_at', '<=', ago(maxOpenMinutes))]),
      ]),
    )
    .where((eb) => eb.not(hasUnpayablePlayer))
    .orderBy('g.game_id')
    .limit(limit)
    .execute()
  return rows.map(({ game_id }) => game_id)
}

const selectOldOpenGames = (db: Db, minutes: number, limit: number) =>
  db
    .selectFrom('roulette_open_games as o')
    .innerJoin('roulette_games as g', 'g.game_id', 'o.game_id')
    .select('g.game_id')
    .where(
      sql<boolean>`g.created_at <= greatest(clock_timestamp(), (select at from ledger_head)) - make_interval(mins => ${minutes})`,
    )
    .orderBy('g.game_id')
    .limit(limit)

/** Verifies a spin, and the other claims about its game, against the published commitment and the ledger. */
export async function checkSpin(db: Db, spin: VerifySpin, claims?: GameClaims): Promise<Verdict> {
  const events = await spinEvents(db, spin.game_uid)
  const created = events.find((event) => event.type === 'roulette-created')
  const finished = events.find((event) => event.type === 'roulette-finished')
  const recorded = created &&
    finished && { ...finished.data, incarnation: created.data.incarnation, game_price: created.data.game_price }
  return verifySpin(spin, { commitment: created?.data.commitment, recorded }, claims)
}

/** The events that created and ended a game, read from the ledger; none for a game of another ledger. */
async function spinEvents(db: Db, uid: string): Promise<readonly StoredEvent[]> {
  const id = gameIdOf(uid)
  if (id === null) return []
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from roulette_games g
    join ledger_events e on e.position in (g.game_id, g.end_position)
    where g.game_id = ${id} and g.uid = ${uid}`.execute(db)
  return rows.map((row) => parseStoredEvent(parseEntry(row)))
}

const instant = Type.Union([Type.Integer(), Type.Null()])
const optionalId = Type.Union([Id, Type.Null()])

const StoredGame = TypeCompiler.Compile(
  Type.Object({
    game_id: Id,
    uid: Type.String(),
    incarnation: Type.String(),
    room_id: Id,
    creator_id: Id,
    status: PublishedGame.properties.status,
    game_price: Amount,
    max_players: Amount,
    fee_percent: Amount,
    prize: Amount,
    entries: Type.Array(RouletteEntry),
    commitment: Type.String(),
    winner_id: optionalId,
    spin: Type.Union([
      Type.Object({ server_seed: Type.String(), entries_hash: Type.String(), draw: Type.Integer() }),
      Type.Null(),
    ]),
    end_position: optionalId,
    created_at: Type.Integer(),
    ended_at: instant,
    empty_since: instant,
    people: Type.Array(Person),
  }),
)

/** Presents the JSON of a game. */
function presentGame(stored: unknown, roomUid: string, assetBaseUrl: string): PublishedGame | null {
  if (stored === null) return null
  if (!StoredGame.Check(stored)) throw new Error('the stored game is malformed')
  const { people, ...game } = stored
  const byId = new Map(people.map((person) => [person.id, person]))
  // Profiles may have been erased; players stay listed without a name.
  const named = nameGame(game, roomUid, (id) => byId.get(id) ?? unnamedPerson(id))
  return publishedGame(named, assetBaseUrl)
}

const unnamedPerson = (id: number) => ({ id, name: '', avatar: '', uid: '' })
