import { type Kysely, sql } from 'kysely'
import type { Tables } from '../db/tables.ts'

/** Makes a user a member of a room, if there is one; who is a member stays one. */
export async function joinRoom(db: Kysely<Tables>, room_id: number, user_id: number): Promise<void> {
  await db
    .insertInto('room_members')
    .columns(['room_id', 'user_id'])
    .expression((eb) =>
      eb
        .selectFrom('rooms')
        .where('room_id', '=', room_id)
        .select(['room_id', sql<number>`${user_id}::bigint`.as('user_id')]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
