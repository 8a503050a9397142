import { type Kysely, sql } from 'kysely'
import type { RoomResource } from '../../schema/rooms.ts'
import { addressOf } from '../asset-address.ts'
import { after, micros } from '../db/newest.ts'
import type { Tables } from '../db/tables.ts'
import { isoMicros, type Micros } from '../ledger/time.ts'

type Db = Kysely<Tables>

/** The id of a room that goes by this: a number is the id itself, a string is a uid. Null when no room has the uid. */
export async function roomIdOf(db: Db, ref: string | number): Promise<number | null> {
  if (typeof ref === 'number') return ref
  const row = await db.selectFrom('room_profiles').select('room_id').where('uid', '=', ref).executeTakeFirst()
  return row?.room_id ?? null
}

/** The words of rooms by their ids. */
export async function roomNames(db: Db, ids: readonly number[]) {
  const rows = await db
    .selectFrom('room_profiles')
    .select(['room_id', 'uid', 'name'])
    .where('room_id', 'in', ids)
    .execute()
  return new Map(rows.map(({ room_id, ...words }) => [room_id, words]))
}

/** The room as its guests see it, without its game; undefined when there is no such room. */
export async function roomById(
  db: Db,
  id: number,
  assetBaseUrl: string,
): Promise<Omit<RoomResource, 'active_roulette_game'> | undefined> {
  const row = await db
    .selectFrom('rooms as r')
    .innerJoin('room_profiles as p', 'p.room_id', 'r.room_id')
    .innerJoin('user_profiles as o', 'o.user_id', 'r.owner_id')
    .where('r.room_id', '=', id)
    .select(['r.room_id', 'r.trophy_points', 'p.uid', 'p.name', 'p.cover_url', micros('p.created_at').as('created_at')])
    .select(['o.user_id as owner_id', 'o.name as owner_name', 'o.avatar as owner_avatar', 'o.uid as owner_uid'])
    .select(membersCount.as('members_count'))
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    id: row.room_id,
    uid: row.uid,
    name: row.name,
    cover_url: addressOf(row.cover_url, assetBaseUrl),
    owner: { id: row.owner_id, name: row.owner_name, avatar: row.owner_avatar, uid: row.owner_uid },
    members_count: row.members_count,
    trophy_points: row.trophy_points,
    created_at: isoMicros(row.created_at),
  }
}

/** Of a room `r`. A sum of bigint is numeric, and no room has that many. */
const membersCount = sql<number>`(
  select coalesce(sum(c.members), 0)::bigint from room_member_counts c where c.room_id = r.room_id)`

/** A room as operators see it. */
export interface RoomRow {
  readonly room_id: number
  readonly owner_id: number
  readonly trophy_points: number
  readonly uid: string
  readonly name: string
  readonly cover_url: string
  readonly created_at: Micros
}

export const roomRow = (db: Db, id: number): Promise<RoomRow | undefined> =>
  roomRows(db).where('r.room_id', '=', id).executeTakeFirst()

/** Newest first; `place` is [created_at, room_id] of the last one seen. */
export const newestRooms = (db: Db, limit: number, place: readonly number[] | null): Promise<RoomRow[]> =>
  roomRows(db)
    .$if(place !== null, (query) => query.where(after('p.created_at', 'p.room_id', place ?? [])))
    .orderBy('p.created_at', 'desc')
    .orderBy('p.room_id', 'desc')
    .limit(limit)
    .execute()

const roomRows = (db: Db) =>
  db
    .selectFrom('rooms as r')
    .innerJoin('room_profiles as p', 'p.room_id', 'r.room_id')
    .select(['r.room_id', 'r.owner_id', 'r.trophy_points', 'p.uid', 'p.name', 'p.cover_url'])
    .select(micros('p.created_at').as('created_at'))

export interface RoomOfUser {
  readonly uid: string
  readonly userId: number
}

/** For each of these the room's id, or null where the user is no member of a room with that uid. */
export async function memberRooms(db: Db, pairs: readonly RoomOfUser[]): Promise<(number | null)[]> {
  const { rows } = await sql<{ room_id: number | null }>`
    select m.room_id
    from unnest(${pairs.map(({ uid }) => uid)}::text[], ${pairs.map(({ userId }) => userId)}::bigint[])
      with ordinality as asked (uid, user_id, place)
    left join room_profiles p on p.uid = asked.uid
    left join room_members m on m.room_id = p.room_id and m.user_id = asked.user_id
    order by asked.place`.execute(db)
  return rows.map(({ room_id }) => room_id)
}
