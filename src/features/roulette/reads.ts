import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Kysely, sql } from 'kysely'
import { RouletteEntry } from '../../../schema/events.ts'
import type { VerifySpin } from '../../../schema/fairness.ts'
import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { Game as PublishedGame } from '../../../schema/roulette.ts'
import { micros } from '../../db/queries/keyset-pagination.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../ledger/storage/stored-event.ts'
import type { Verdict } from '../fairness/verdict.ts'
import { type Game, gameIdOf } from './game.ts'
import { nameGame } from './game-lookup.ts'
import { MAX_EMPTY_MINUTES } from './old-games/cancel-stale-games.ts'
import { publishedGame } from './presenters.ts'
import { type GameClaims, verifySpin } from './verify-spin.ts'

type Db = Kysely<Tables>

/** The open game of a room, if it has one. */
export const activeGame = async (db: Db, roomId: number): Promise<PublishedGame | null> =>
  (await activeGames(db, [roomId])).get(roomId) ?? null

/** Open games by room id; rooms without one are missing. */
export async function activeGames(db: Db, roomIds: readonly number[]): Promise<ReadonlyMap<number, PublishedGame>> {
  const rows = await gameRows(db)
    .innerJoin('roulette_open_games as o', 'o.game_id', 'g.game_id')
    .where('o.room_id', 'in', roomIds)
    .execute()
  return await toPublishedGames(db, rows)
}

/** A game of a room by id or uid, open or ended; undefined when there is none. */
export async function gameInRoom(db: Db, roomId: number, ref: number | string): Promise<PublishedGame | undefined> {
  const id = gameIdOf(ref)
  if (id === null) return undefined
  const row = await gameRows(db)
    .where('g.game_id', '=', id)
    .where('g.room_id', '=', roomId)
    .$if(typeof ref === 'string', (query) => query.where('g.uid', '=', String(ref)))
    .executeTakeFirst()
  return row && (await toPublishedGames(db, [row])).get(roomId)
}

/**
 * Open games created at least `minutes` ago by the ledger's clock, oldest first, with ids above `after`.
 */
export async function openGamesOlderThan(db: Db, minutes: number, after: number, limit: number): Promise<number[]> {
  const rows = await selectOldOpenGames(db, minutes, limit).where('g.game_id', '>', after).execute()
  return rows.map(({ game_id }) => game_id)
}

/**
 * The oldest open games created at least `minutes` ago: up to `limit` whose players can be paid back now, and up to
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

/** A game with a player whose balance could not take the stake back now. */
const hasUnpayablePlayer = sql<boolean>`exists (
  select from jsonb_to_recordset(g.entries::jsonb) as e(user_id bigint, stake numeric)
  join balances b on b.account = 'user:' || e.user_id || ':coins'
  where b.balance + e.stake > ${MAX_INTEGER}::numeric)`

/** Games that `cancelStaleGames` would cancel, by the ledger's clock, without those that cannot be paid back. */
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
  const recorded = created && finished && { ...finished.data, game_price: created.data.game_price }
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

const gameRows = (db: Db) =>
  db
    .selectFrom('roulette_games as g')
    .innerJoin('room_profiles as r', 'r.room_id', 'g.room_id')
    .select(['g.game_id', 'g.uid', 'g.room_id', 'g.creator_id', 'g.status', 'g.game_price', 'g.max_players'])
    .select(['g.fee_percent', 'g.prize', 'g.entries', 'g.commitment', 'g.winner_id', 'g.spin', 'g.end_position'])
    .select([micros('g.created_at').as('created_at'), micros('g.ended_at').as('ended_at')])
    .select([micros('g.empty_since').as('empty_since'), 'r.uid as room_uid'])

type GameRow = Awaited<ReturnType<ReturnType<typeof gameRows>['executeTakeFirstOrThrow']>>

const Status = PublishedGame.properties.status
const Entries = Type.Array(RouletteEntry)
const Spin = Type.Object({ server_seed: Type.String(), entries_hash: Type.String(), draw: Type.Integer() })

/** Presents games, at most one per room, by room id. */
async function toPublishedGames(db: Db, rows: readonly GameRow[]): Promise<ReadonlyMap<number, PublishedGame>> {
  if (rows.length === 0) return new Map()
  const games = rows.map(({ room_uid, ...row }) => ({ game: toGame(row), room_uid }))
  const ids = games.flatMap(({ game }) => [game.creator_id, ...game.entries.map(({ user_id }) => user_id)])
  const profiles = await db
    .selectFrom('user_profiles')
    .select(['user_id as id', 'name', 'avatar', 'uid'])
    .where('user_id', 'in', [...new Set(ids)])
    .execute()
  const byId = new Map(profiles.map((person) => [person.id, person]))
  // Profiles may have been erased; players stay listed without a name.
  const person = (id: number) => byId.get(id) ?? unnamedPerson(id)
  return new Map(games.map(({ game, room_uid }) => [game.room_id, publishedGame(nameGame(game, room_uid, person))]))
}

const toGame = ({ status, entries, spin, ...row }: Omit<GameRow, 'room_uid'>): Game => ({
  ...row,
  status: Value.Parse(Status, status),
  entries: Value.Parse(Entries, JSON.parse(entries)),
  spin: spin === null ? null : Value.Parse(Spin, JSON.parse(spin)),
})

const unnamedPerson = (id: number) => ({ id, name: '', avatar: '', uid: '' })
