import { Value } from '@sinclair/typebox/value'
import type { Kysely } from 'kysely'
import { ClientType, InBoth } from '../../../schema/events.ts'
import { micros } from '../../db/keyset-pagination.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { Standing } from './app-status.ts'
import { typeOf } from './clients/client-hints.ts'
import { ALL, type Mode } from './mode.ts'
import type { Release } from './releases/release.ts'

type Db = Kysely<Tables>

/** Undefined as long as none was set. */
export async function currentMode(db: Db): Promise<Mode | undefined> {
  const row = await modeRows(db).executeTakeFirst()
  return row && asMode(row)
}

export async function releaseOf(db: Db, type: ClientType): Promise<Release | undefined> {
  const row = await releaseRows(db).where('client_type', '=', type).executeTakeFirst()
  return row && asRelease(row)
}

/** Newest first; `place` is [created] of the last one seen. */
export async function newestReleases(db: Db, limit: number, place: readonly number[] | null): Promise<Release[]> {
  const rows = await releaseRows(db)
    .$if(place !== null, (query) => query.where('created', '<', place?.[0] ?? 0))
    .orderBy('created', 'desc')
    .limit(limit)
    .execute()
  return rows.map(asRelease)
}

/** Mode and releases, and the position at which they are so. */
export const standing = (db: Db): Promise<Standing> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (snapshot) => {
      const { position } = await snapshot.selectFrom('ledger_head').select('position').executeTakeFirstOrThrow()
      const mode = (await currentMode(snapshot)) ?? null
      return { position, mode, releases: (await releaseRows(snapshot).execute()).map(asRelease) }
    })

const modeRows = (db: Db) =>
  db
    .selectFrom('app_modes')
    .select(['maintenance', 'title', 'message', 'block_unidentified', micros('updated_at').as('updated_at')])

const releaseRows = (db: Db) =>
  db
    .selectFrom('app_releases')
    .select(['client_type', 'version', 'minimum_version', 'store_link', 'title', 'message', 'created'])
    .select([micros('created_at').as('created_at'), micros('updated_at').as('updated_at')])

const words = (text: string): InBoth => Value.Parse(InBoth, JSON.parse(text))

type Row<Table extends keyof Tables> = Omit<Tables[Table], 'created_at' | 'updated_at'> & {
  readonly updated_at: Micros
}

const asMode = ({
  maintenance,
  title,
  message,
  block_unidentified,
  updated_at,
}: Omit<Row<'app_modes'>, 'scope'>): Mode => ({
  scope: ALL,
  maintenance,
  title: words(title),
  message: words(message),
  block_unidentified: typeOf(block_unidentified),
  updated_at,
})

const asRelease = (row: Row<'app_releases'> & { readonly created_at: Micros }): Release => ({
  ...row,
  client_type: Value.Parse(ClientType, row.client_type),
  title: words(row.title),
  message: words(row.message),
})
