import { Kysely, PostgresDialect } from 'kysely'
import type { PoolClient } from 'pg'
import type { Tables } from '../tables.ts'

/** Where connections come from: a pool, or one that limits who may wait. */
export interface ConnectionSource {
  readonly options: object
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

const sources = new WeakMap<Kysely<Tables>, ConnectionSource>()

/** Kysely over a pool. */
export function queryBuilder(source: ConnectionSource): Kysely<Tables> {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: source }) })
  sources.set(db, source)
  return db
}

/** Where the connections of a Kysely come from that `queryBuilder` made. */
export function connectionSourceOf(db: Kysely<Tables>): ConnectionSource {
  const source = sources.get(db)
  if (source === undefined) throw new Error('this Kysely has no connections of its own, as within a transaction')
  return source
}
