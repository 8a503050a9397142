import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'

/** Makes a user a member of a room, if the room exists. Joining again has no effect. */
export async function joinRoom(db: Kysely<Tables>, room_id: number, user_id: number): Promise<void> {
  await sql`
    insert into room_members (room_id, user_id)
    select room_id, ${user_id}::bigint from rooms where room_id = ${room_id}
    on conflict do nothing`.execute(db)
}
