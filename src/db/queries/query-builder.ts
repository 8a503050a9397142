import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import type { PoolClient } from 'pg'
import type { Tables } from '../tables.ts'
import { statementName } from './prepared-statement.ts'

/** Where connections come from: a pool, or one that limits who may wait. */
export interface ConnectionSource {
  readonly options: object
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

/** The name under which a connection parses a text once; undefined for a text that is parsed each time. */
export type NameStatement = (text: string) => string | undefined

/** Kysely over a pool, with prepared statements: by default those of `PreparedStatement`. */
export const queryBuilder = (
  source: ConnectionSource,
  nameStatement: NameStatement = statementName,
): Kysely<Tables> => {
  const pool: PostgresPool = {
    options: source.options,
    connect: async () => new PreparingClient(await source.connect(), nameStatement),
    end: () => source.end(),
  }
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

/** A connection that prepares the texts that have a name. */
class PreparingClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #nameStatement: NameStatement

  constructor(client: PoolClient, nameStatement: NameStatement) {
    this.#client = client
    this.#nameStatement = nameStatement
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    query: string | PostgresCursor<R>,
    values?: readonly unknown[],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof query !== 'string') throw new Error('cursors are not read through Kysely')
    const name = this.#nameStatement(query)
    const text = { text: query, values: [...(values ?? [])] }
    // Only the author of a statement knows the type of its rows.
    return this.#client.query(name === undefined ? text : { name, ...text }) as Promise<never>
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy)
  }
}
