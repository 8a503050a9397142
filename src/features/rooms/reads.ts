import { type Kysely, sql } from 'kysely'
import { isNameWord } from '../../../schema/common.ts'
import type { ListedRoom, RoomResource } from '../../../schema/rooms.ts'
import { beginsWith, isAfterCursor, isAnyOf, isWord, micros, microsOf } from '../../db/queries/expressions.ts'
import { listOf, PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { parseId } from '../../ledger/rules/account.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import type { FindRoomStates } from '../../realtime/subscriptions/channel-access.ts'
import { assetUrl, withAvatarUrl } from '../asset-url.ts'
import type { RoomRef } from './room.ts'

type Db = Kysely<Tables>

/** The lists that `requestedRooms` takes, of as many rooms. Numbers here are ids, never uids. */
export const roomRefLists = (refs: readonly RoomRef[]): readonly [ids: (number | null)[], uids: (string | null)[]] => [
  refs.map((ref) => (typeof ref === 'number' ? ref : parseId(ref))),
  refs.map((ref) => (typeof ref === 'string' ? ref : null)),
]

/** For prepared statements: rooms `r` with their profiles `p` by the lists `$1` and `$2`, each with its `place`, from 1. */
export const requestedRooms = `
  unnest(${listOf('$1', 'bigint')}, ${listOf('$2', 'text')}) with ordinality as requested (room_id, uid, place)
  join room_profiles p
    on p.room_id = coalesce((select u.room_id from room_profiles u where u.uid = requested.uid), requested.room_id)
  join rooms r on r.room_id = p.room_id`

/** Uids and names of rooms by id. */
export async function roomNames(db: Db, ids: readonly number[]) {
  const rows = await db
    .selectFrom('room_profiles')
    .select(['room_id', 'uid', 'name'])
    .where(isAnyOf('room_id', ids))
    .execute()
  return new Map(rows.map(({ room_id, ...profile }) => [room_id, profile]))
}

/** The room's open game as a column of statements about rooms; another slice provides it. */
export interface ActiveGameColumn {
  /** `roomId` is the name of a column. */
  readonly sql: (roomId: string) => string
  readonly present: (value: unknown, roomUid: string, assetBaseUrl: string) => RoomResource['active_roulette_game']
}

/** A room with its owner, as lists show it. */
interface ListedRoomRow {
  readonly room_id: number
  readonly uid: string
  readonly name: string
  readonly cover_url: string
  readonly trophy_points: number
  readonly created_at: Micros
  readonly owner_id: number
  readonly owner_name: string
  readonly owner_avatar: string
  readonly owner_uid: string
  readonly members_count: number
}

interface PublicRoomRow extends ListedRoomRow {
  readonly place: number
  readonly active_game: unknown
}

export type FindRooms = (
  db: Db,
  refs: readonly RoomRef[],
  assetBaseUrl: string,
) => Promise<ReadonlyMap<RoomRef, RoomResource>>

/** Finds rooms as users see them; unknown ones are missing. */
export function findRoomsWith(activeGame: ActiveGameColumn): FindRooms {
  const statement = new PreparedStatement<PublicRoomRow>('rooms as users see them', roomsStatement(activeGame))
  return async (db, refs, assetBaseUrl) => {
    const distinct = [...new Set(refs)]
    const found = new Map<RoomRef, RoomResource>()
    for (const row of await statement.execute(db, roomRefLists(distinct))) {
      const ref = distinct[row.place - 1]
      if (ref === undefined) throw new Error(`no room was requested at ${row.place}`)
      found.set(ref, publicRoom(row, activeGame, assetBaseUrl))
    }
    return found
  }
}

/**
 * Finds the same by id, each with the position that it is as of: a statement sees the ledger's head and the rows that
 * were written with it.
 */
export function roomStatesWith(activeGame: ActiveGameColumn, assetBaseUrl: () => string): FindRoomStates {
  const statement = new PreparedStatement<PublicRoomRow & { readonly position: number }>(
    'rooms as users see them, with the position',
    roomsStatement(activeGame, '(select h.position from ledger_head h) as position,'),
  )
  return async (db, ids) => {
    const rows = await statement.execute(db, roomRefLists(ids))
    return new Map(
      rows.map((row) => [row.room_id, { position: row.position, room: publicRoom(row, activeGame, assetBaseUrl()) }]),
    )
  }
}

/** Columns of rooms `r` with their profiles `p` and owners `o`. */
const listedRoomColumns = `
  r.room_id, p.uid, p.name, p.cover_url, r.trophy_points, ${microsOf('p.created_at')} as created_at,
  o.user_id as owner_id, o.name as owner_name, o.avatar as owner_avatar, o.uid as owner_uid,
  r.members_count`

const roomsStatement = (activeGame: ActiveGameColumn, moreColumns = ''): string =>
  `select ${moreColumns} requested.place, ${listedRoomColumns}, ${activeGame.sql('r.room_id')} as active_game
   from ${requestedRooms}
   join user_profiles o on o.user_id = r.owner_id`

function publicRoom(row: PublicRoomRow, activeGame: ActiveGameColumn, assetBaseUrl: string): RoomResource {
  const game = activeGame.present(row.active_game, row.uid, assetBaseUrl)
  return { ...listedRoom(row, assetBaseUrl), active_roulette_game: game }
}

export const listedRoom = (row: ListedRoomRow, assetBaseUrl: string): ListedRoom => ({
  id: row.room_id,
  uid: row.uid,
  name: row.name,
  cover_url: assetUrl(row.cover_url, assetBaseUrl),
  owner: withAvatarUrl(
    { id: row.owner_id, name: row.owner_name, avatar: row.owner_avatar, uid: row.owner_uid },
    assetBaseUrl,
  ),
  members_count: row.members_count,
  trophy_points: row.trophy_points,
  created_at: isoMicros(row.created_at),
})

/** A room as operators see it. */
interface RoomRow {
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

/** Newest first; `cursor` is [created_at, room_id] of the last room of the page before. */
export const newestRooms = (db: Db, limit: number, cursor: readonly number[] | null): Promise<RoomRow[]> =>
  roomRows(db)
    .$if(cursor !== null, (query) => query.where(isAfterCursor('p.created_at', 'p.room_id', cursor ?? [])))
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

/**
 * Rooms as users see them in lists, newest first: all, or those whose uid is the word or whose name begins with it.
 * `cursor` is [created_at, room_id] of the last room of the page before.
 */
export async function findRooms(
  db: Kysely<Tables>,
  word: string | null,
  limit: number,
  cursor: readonly number[] | null,
): Promise<readonly ListedRoomRow[]> {
  const { rows } = await sql<ListedRoomRow>`
    select ${sql.raw(listedRoomColumns)}
    from (select p.room_id, p.created_at from room_profiles p
          where ${word === null ? sql`true` : matches(word)}
            and ${cursor === null ? sql`true` : isAfterCursor('p.created_at', 'p.room_id', cursor)}
          order by p.created_at desc, p.room_id desc limit ${limit}) page
    join room_profiles p on p.room_id = page.room_id
    join rooms r on r.room_id = page.room_id
    join user_profiles o on o.user_id = r.owner_id
    order by page.created_at desc, page.room_id desc`.execute(db)
  return rows
}

const matches = (word: string) =>
  isNameWord(word)
    ? sql`(${isWord('p.uid_folded', word)} or ${beginsWith('p.name_folded', word)})`
    : isWord('p.uid_folded', word)

export interface UserAndRoom {
  readonly room: RoomRef
  readonly userId: number
}

export interface Membership {
  readonly room_id: number
  readonly is_member: boolean
  /** The position of the ledger that this is as of. */
  readonly position: number
}

/** `$3` are ids of users. */
const requestedMemberships = new PreparedStatement<Membership & { readonly place: number }>(
  'memberships of users',
  `select requested.place, r.room_id, (select h.position from ledger_head h) as position,
          exists (select from room_memberships m
                  where m.room_id = r.room_id and m.user_id = (${listOf('$3', 'bigint')})[requested.place])
            as is_member
   from ${requestedRooms}`,
)

/** Whether each user is a member of the room; null where there is no such room. */
export async function membershipsOf(db: Db, requested: readonly UserAndRoom[]): Promise<(Membership | null)[]> {
  const found = requested.map((): Membership | null => null)
  const refs = roomRefLists(requested.map(({ room }) => room))
  for (const { place, ...membership } of await requestedMemberships.execute(db, [
    ...refs,
    requested.map(({ userId }) => userId),
  ])) {
    found[place - 1] = membership
  }
  return found
}

export interface MemberRow {
  readonly user_id: number
  readonly name: string
  readonly uid: string
  readonly avatar: string
  readonly joined_at: Micros
}

/**
 * The members of a room, newest first; `cursor` is [joined_at, user_id] of the last one of the page before. The outer limit
 * says to PostgreSQL, which plans before it knows the inner one, that few users are looked up.
 */
export async function membersOf(
  db: Db,
  roomId: number,
  limit: number,
  cursor: readonly number[] | null,
): Promise<readonly MemberRow[]> {
  const isOnPage = cursor === null ? sql`true` : isAfterCursor('m.joined_at', 'm.user_id', cursor)
  const { rows } = await sql<MemberRow>`
    select m.user_id, u.name, u.uid, u.avatar, ${micros('m.joined_at')} as joined_at
    from (select m.user_id, m.joined_at from room_memberships m
          where m.room_id = ${roomId} and ${isOnPage}
          order by m.joined_at desc, m.user_id desc limit ${limit}) m
    join user_profiles u on u.user_id = m.user_id
    order by m.joined_at desc, m.user_id desc
    limit ${limit}`.execute(db)
  return rows
}

/** Rooms that a user is a member of and does not own. */
export const roomsJoinedBy = async (db: Db, userId: number, limit: number): Promise<number[]> => {
  const { rows } = await sql<{ room_id: number }>`
    select m.room_id
    from room_memberships m
    left join rooms r on r.room_id = m.room_id
    where m.user_id = ${userId} and r.owner_id is distinct from ${userId}
    limit ${limit}`.execute(db)
  return rows.map(({ room_id }) => room_id)
}
