import { Value } from '@sinclair/typebox/value'
import type { Kysely } from 'kysely'
import { ClientType } from '../../../schema/events.ts'
import { LocalizedText } from '../../../schema/languages.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { parseClientType } from './access-policy.ts'
import type { AppStatusSnapshot } from './app-status.ts'
import { MODE_SCOPE, type Mode } from './mode.ts'
import type { Release } from './release.ts'

type Db = Kysely<Tables>

/** Undefined until a mode was set. */
export async function currentMode(db: Db): Promise<Mode | undefined> {
  const row = await modeRows(db).executeTakeFirst()
  return row && toMode(row)
}

export async function findRelease(db: Db, type: ClientType): Promise<Release | undefined> {
  const row = await releaseRows(db).where('client_type', '=', type).executeTakeFirst()
  return row && toRelease(row)
}

/** Newest first; `cursor` is [created] of the last release of the page before. */
export async function newestReleases(db: Db, limit: number, cursor: readonly number[] | null): Promise<Release[]> {
  const rows = await releaseRows(db)
    .$if(cursor !== null, (query) => query.where('created', '<', cursor?.[0] ?? 0))
    .orderBy('created', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toRelease)
}

/** Mode and releases, with the position at which they were read. */
export const readAppStatus = (db: Db): Promise<AppStatusSnapshot> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (snapshot) => {
      const { position } = await snapshot.selectFrom('ledger_head').select('position').executeTakeFirstOrThrow()
      const mode = (await currentMode(snapshot)) ?? null
      return { position, mode, releases: (await releaseRows(snapshot).execute()).map(toRelease) }
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

const parseTexts = (text: string): LocalizedText => Value.Parse(LocalizedText, JSON.parse(text))

type Row<Table extends keyof Tables> = Omit<Tables[Table], 'created_at' | 'updated_at'> & {
  readonly updated_at: Micros
}

const toMode = ({
  maintenance,
  title,
  message,
  block_unidentified,
  updated_at,
}: Omit<Row<'app_modes'>, 'scope'>): Mode => ({
  scope: MODE_SCOPE,
  maintenance,
  title: parseTexts(title),
  message: parseTexts(message),
  block_unidentified: parseClientType(block_unidentified),
  updated_at,
})

const toRelease = (row: Row<'app_releases'> & { readonly created_at: Micros }): Release => ({
  ...row,
  client_type: Value.Parse(ClientType, row.client_type),
  title: parseTexts(row.title),
  message: parseTexts(row.message),
})
