import type { Kysely } from 'kysely'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { isAfterCursor, isAnyOf, micros, microsOf } from '../../db/queries/expressions.ts'
import { listOf, PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import type { NamedCard } from './card.ts'
import type { PrivilegePackage } from './package.ts'

type Db = Kysely<Tables>

interface StoredCardRow extends NamedCard {
  readonly owner_id: number
}

const storedCardRows = new PreparedStatement<StoredCardRow>(
  'stored cards of users',
  `select c.owner_id, c.card_id, c.privilege_package_id, c.valid_days, ${microsOf('c.created_at')} as created_at,
          p.name, p.name_ar, p.icon_path
   from privilege_cards c
   join privilege_packages p on p.privilege_package_id = c.privilege_package_id
   where c.owner_id = any(${listOf('$1', 'bigint')}) and not c.activated
   order by c.entered desc`,
)

const MAX_WALLETS_PER_QUERY = 100

/** Users' stored cards, newest first; those requested at the same time are read with one query. */
export const storedCardLookup = (db: Db) =>
  new BatchedLookup(
    MAX_WALLETS_PER_QUERY,
    async (userIds: readonly number[]): Promise<readonly NamedCard[][]> => {
      const cards = Map.groupBy(await storedCardRows.execute(db, [userIds]), ({ owner_id }) => owner_id)
      return userIds.map((id) => cards.get(id) ?? [])
    },
    requestLimits(db),
  )

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

/** All packages, by rank, the lowest first. `MAX_PACKAGES` limits them when they are defined. */
export const packagesByRank = (db: Db): Promise<PrivilegePackage[]> =>
  packageRows(db).orderBy('p.rank').orderBy('p.privilege_package_id').execute()

const packageRows = (db: Db) =>
  db
    .selectFrom('privilege_packages as p')
    .select(['p.privilege_package_id', 'p.name', 'p.name_ar', 'p.rank', 'p.valid_days', 'p.icon_path'])
    .select(micros('p.created_at').as('created_at'))

/** Names of packages by id. */
export async function packageNames(db: Db, ids: readonly number[]) {
  const rows = await packageRows(db).where(isAnyOf('privilege_package_id', ids)).execute()
  return new Map(rows.map(({ privilege_package_id, name, name_ar }) => [privilege_package_id, { name, name_ar }]))
}
