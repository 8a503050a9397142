import { type Kysely, sql } from 'kysely'
import { isAfterCursor, micros } from '../../db/queries/keyset-pagination.ts'
import type { Tables } from '../../db/tables.ts'
import type { NamedCard } from './card.ts'
import type { PrivilegePackage } from './packages/package.ts'

type Db = Kysely<Tables>

/** The user's stored cards, newest first. */
export const storedCards = (db: Db, userId: number): Promise<NamedCard[]> =>
  db
    .selectFrom('privilege_cards as c')
    .innerJoin('privilege_packages as p', 'p.privilege_package_id', 'c.privilege_package_id')
    .select(['c.card_id', 'c.privilege_package_id', 'c.valid_days', micros('c.created_at').as('created_at')])
    .select(['p.name', 'p.icon_path'])
    .where('c.owner_id', '=', userId)
    .where(sql<boolean>`not c.activated`)
    .orderBy('c.entered', 'desc')
    .execute()

export const packageById = (db: Db, id: number): Promise<PrivilegePackage | undefined> =>
  packageRows(db).where('privilege_package_id', '=', id).executeTakeFirst()

/** Newest first; `cursor` is [created_at, privilege_package_id] of the last package of the page before. */
export const newestPackages = (db: Db, limit: number, cursor: readonly number[] | null): Promise<PrivilegePackage[]> =>
  packageRows(db)
    .$if(cursor !== null, (query) => query.where(isAfterCursor('p.created_at', 'p.privilege_package_id', cursor ?? [])))
    .orderBy('p.created_at', 'desc')
    .orderBy('p.privilege_package_id', 'desc')
    .limit(limit)
    .execute()

const packageRows = (db: Db) =>
  db
    .selectFrom('privilege_packages as p')
    .select(['p.privilege_package_id', 'p.name', 'p.rank', 'p.valid_days', 'p.icon_path'])
    .select(micros('p.created_at').as('created_at'))

/** Names of packages by id. */
export async function packageNames(db: Db, ids: readonly number[]) {
  const rows = await packageRows(db).where('privilege_package_id', 'in', ids).execute()
  return new Map(rows.map(({ privilege_package_id, name }) => [privilege_package_id, { name }]))
}

/** Names of users and of packages by id. */
export async function userAndPackageNames(
  db: Db,
  userIds: readonly number[],
  packageIds: readonly number[],
): Promise<{ readonly users: ReadonlyMap<number, string>; readonly packages: ReadonlyMap<number, string> }> {
  const [users, packages] = await Promise.all([
    db.selectFrom('user_profiles').select(['user_id', 'name']).where('user_id', 'in', userIds).execute(),
    packageRows(db).where('privilege_package_id', 'in', packageIds).execute(),
  ])
  return {
    users: new Map(users.map(({ user_id, name }) => [user_id, name])),
    packages: new Map(packages.map(({ privilege_package_id, name }) => [privilege_package_id, name])),
  }
}
