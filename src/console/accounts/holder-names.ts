import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'

/** The names of the users and rooms whose accounts these are, by account. */
export async function readHolderNames(
  db: Kysely<Tables>,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const users = await readNames(accounts, ['user', 'settled'], (ids) =>
    db.selectFrom('user_profiles').select(['user_id as id', 'name']).where('user_id', 'in', ids).execute(),
  )
  const rooms = await readNames(accounts, ['room'], (ids) =>
    db.selectFrom('room_profiles').select(['room_id as id', 'name']).where('room_id', 'in', ids).execute(),
  )
  return new Map([...users, ...rooms])
}

async function readNames(
  accounts: readonly string[],
  kinds: readonly string[],
  read: (ids: readonly number[]) => Promise<readonly { readonly id: number; readonly name: string }[]>,
): Promise<readonly (readonly [string, string])[]> {
  const idOf = new Map(
    accounts.flatMap((account) => {
      const [kind = '', id] = account.split(':')
      return kinds.includes(kind) ? [[account, Number(id)] as const] : []
    }),
  )
  if (idOf.size === 0) return []
  const names = new Map((await read([...new Set(idOf.values())])).map(({ id, name }) => [id, name]))
  return [...idOf].flatMap(([account, id]) => {
    const name = names.get(id)
    return name === undefined ? [] : [[account, name] as const]
  })
}
