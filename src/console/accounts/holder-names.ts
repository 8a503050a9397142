import type { Kysely } from 'kysely'
import { isAnyOf } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { readUserNames } from '../users/find-user.ts'

/** The names of the users and rooms whose accounts these are, by account. */
export async function readHolderNames(
  db: Kysely<Tables>,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const users = await namesByAccount(accounts, ['user', 'settled'], (ids) => readUserNames(db, ids))
  const rooms = await namesByAccount(accounts, ['room'], async (ids) => {
    const rows = await db
      .selectFrom('room_profiles')
      .select(['room_id', 'name'])
      .where(isAnyOf('room_id', ids))
      .execute()
    return new Map(rows.map(({ room_id, name }) => [room_id, name]))
  })
  return new Map([...users, ...rooms])
}

async function namesByAccount(
  accounts: readonly string[],
  kinds: readonly string[],
  read: (ids: readonly number[]) => Promise<ReadonlyMap<number, string>>,
): Promise<readonly (readonly [string, string])[]> {
  const idOf = new Map(
    accounts.flatMap((account) => {
      const [kind = '', id] = account.split(':')
      return kinds.includes(kind) ? [[account, Number(id)] as const] : []
    }),
  )
  if (idOf.size === 0) return []
  const names = await read([...new Set(idOf.values())])
  return [...idOf].flatMap(([account, id]) => {
    const name = names.get(id)
    return name === undefined ? [] : [[account, name] as const]
  })
}
