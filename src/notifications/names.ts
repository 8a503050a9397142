import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.ts'
import type { NamedIds, Names } from './event-notification.ts'

type Lookup<Kind extends keyof Names> = (db: Kysely<Tables>, ids: readonly number[]) => Promise<Names[Kind]>

/** Reads the names that notifications show, by id. */
export type NameLookups = { readonly [Kind in keyof Names]: Lookup<Kind> }

/** The current names that some notifications show, with one query for each kind. */
export async function findNames(
  db: Kysely<Tables>,
  { users, packages }: NameLookups,
  wanted: readonly NamedIds[],
): Promise<Names> {
  const idsOf = (kind: keyof Names): number[] => [...new Set(wanted.flatMap((ids) => ids[kind] ?? []))]
  const [userNames, packageNames] = await Promise.all([
    find(db, users, idsOf('users')),
    find(db, packages, idsOf('packages')),
  ])
  return { users: userNames, packages: packageNames }
}

const find = async <Kind extends keyof Names>(
  db: Kysely<Tables>,
  lookup: Lookup<Kind>,
  ids: readonly number[],
): Promise<Names[Kind]> => (ids.length === 0 ? new Map() : lookup(db, ids))
