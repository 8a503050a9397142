import type { Kysely } from 'kysely'
import { isAnyOf } from '../../db/queries/is-any-of.ts'
import type { Tables } from '../../db/tables.ts'

/** Names of users, by id; without those of users who have none. */
export async function readUserNames(db: Kysely<Tables>, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('user_profiles')
    .select(['user_id', 'name'])
    .where(isAnyOf('user_id', [...new Set(ids)]))
    .execute()
  return new Map(rows.map(({ user_id, name }) => [user_id, name]))
}
