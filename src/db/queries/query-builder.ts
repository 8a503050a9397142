import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import type { PoolClient, QueryConfig } from 'pg'
import { isConnectionError, isOverload } from '../connection-errors.ts'
import { isRecoveryConflict } from '../postgres-errors.ts'
import type { Tables } from '../tables.ts'
import { statementName } from './prepared-statement.ts'

/** Where connections come from: a pool, or one that limits who may wait. */
export interface ConnectionSource {
  readonly options: object
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

/**
 * Kysely over a pool, with prepared statements. For a standby, `primary` gets what it cannot be asked or does not answer,
 * one statement at a time.
 */
export const queryBuilder = (source: ConnectionSource, primary?: ConnectionSource): Kysely<Tables> => {
  const connect = async (): Promise<PoolClient> => {
    if (primary === undefined) return source.connect()
    return source.connect().catch((error: unknown) => {
      if (isStandbyFailure(error)) return primary.connect()
      throw error
    })
  }
  const pool: PostgresPool = {
    options: source.options,
    connect: async () => new PreparingClient(await connect(), primary),
    end: () => source.end(),
  }
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

/** Whether a standby failed where its primary may not: it is away, or its replay cancelled the query. */
const isStandbyFailure = (error: unknown): boolean =>
  (isConnectionError(error) && !isOverload(error)) || isRecoveryConflict(error)

/** A connection that prepares the texts of `PreparedStatement`s. */
class PreparingClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #primary: ConnectionSource | undefined

  constructor(client: PoolClient, primary: ConnectionSource | undefined) {
    this.#client = client
    this.#primary = primary
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    query: string | PostgresCursor<R>,
    values?: readonly unknown[],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof query !== 'string') throw new Error('cursors are not read through Kysely')
    const name = statementName(query)
    const text = { text: query, values: [...(values ?? [])] }
    const config = name === undefined ? text : { name, ...text }
    // Only the author of a statement knows the type of its rows.
    const result = this.#client.query(config) as Promise<never>
    const primary = this.#primary
    if (primary === undefined) return result
    return result.catch((error: unknown) => {
      if (isStandbyFailure(error)) return queryOnce(primary, config)
      throw error
    })
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy)
  }
}

async function queryOnce(source: ConnectionSource, config: QueryConfig): Promise<never> {
  const client = await source.connect()
  try {
    return (await client.query(config)) as never
  } finally {
    client.release()
  }
}
