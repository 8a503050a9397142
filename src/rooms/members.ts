import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.ts'

/** Makes a user a member of a room, if there is one; who is a member stays one. */
export async function joinRoom(db: Kysely<Tables>, room_id: number, user_id: number): Promise<void> {
  await db
    .insertInto('room_members')
    .columns(['room_id', 'user_id'])
    .expression(({ selectFrom, cast, val }) =>
      selectFrom('rooms')
        .where('room_id', '=', room_id)
        .select(['room_id', cast<number>(val(user_id), 'bigint').as('user_id')]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
