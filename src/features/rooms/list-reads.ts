import { type Kysely, sql } from 'kysely'
import { isNameWord } from '../../../schema/search.ts'
import { beginsWith, isWord } from '../../db/queries/begins-with.ts'
import { isAfterCursor } from '../../db/queries/keyset-pagination.ts'
import type { Tables } from '../../db/tables.ts'
import { type ListedRoomRow, listedRoomColumns } from './reads.ts'

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
