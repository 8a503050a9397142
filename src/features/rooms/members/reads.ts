import { type Kysely, sql } from 'kysely'
import { isAfterCursor, micros } from '../../../db/queries/expressions.ts'
import { listOf, PreparedStatement } from '../../../db/queries/query-builder.ts'
import type { Tables } from '../../../db/tables.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { requestedRooms, roomRefLists } from '../reads.ts'
import type { RoomRef } from '../room-ref.ts'

type Db = Kysely<Tables>

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
