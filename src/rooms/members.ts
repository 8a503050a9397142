import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.ts'

/** Makes a user a member of a room; one who is a member stays one. */
export async function joinRoom(db: Kysely<Tables>, room_id: number, user_id: number): Promise<void> {
  await db
    .insertInto('room_members')
    .values({ room_id, user_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
