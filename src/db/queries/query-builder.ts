import {
  CompiledQuery,
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import { LRUCache } from 'lru-cache'
import type { PoolClient } from 'pg'
import type { Log } from '../log.ts'
import { type ConnectionSource, openPool, readPool } from '../pool.ts'
import type { Tables } from '../tables.ts'

/** The name under which a connection parses a text once; undefined for a text that is parsed each time. */
type NameStatement = (text: string) => string | undefined

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

/** Names by text. */
const names = new Map<string, string>()

/**
 * A statement of fixed text, which each connection parses once under a name and, after some executions, also plans
 * once: planning takes most of the time of a read by primary keys.
 */
export class PreparedStatement<Row> {
  readonly #text: string

  /** `name` belongs to this text only, and has at most 63 bytes. */
  constructor(name: string, text: string) {
    for (const [other, taken] of names) {
      if (taken === name && other !== text) throw new Error(`two statements are named ${name}`)
    }
    names.set(text, name)
    this.#text = text
  }

  async execute(db: Kysely<Tables>, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(this.#text, [...values]))
    return rows
  }
}

/**
 * A list as a parameter of a PreparedStatement. The planner cannot see its length, so that a plan for any list looks as
 * good as one for the given list, and is kept. With a visible length, a few short lists at first would make it plan
 * every time.
 */
export const listOf = (parameter: string, type: string): string => `(select ${parameter}::${type}[])::${type}[]`

/** The name of a prepared statement's text; undefined for any other text. */
const statementName = (text: string): string | undefined => names.get(text)

/** The one database that all of a report is read from. */
export interface ReportDatabase {
  readonly db: Kysely<Tables>
  /** For readers that open connections of their own. */
  readonly url: string
}

/**
 * Chooses what a report or a page of staff is read from: the standby of DATABASE_READ_URL, if it has everything that was
 * committed before, else the primary. Rejects when the primary cannot be asked.
 */
export type ChooseReportDatabase = () => Promise<ReportDatabase>

/** Two reports run at a time, and short reads of the ledger need a third. */
const MAX_CONNECTIONS = 3

/** Texts that each connection keeps parsed: all pages together have some 150. */
const MAX_NAMED_TEXTS = 300
/** Texts that were seen once and are remembered. */
const MAX_SEEN_TEXTS = 300

/**
 * Names each text that is asked again, until there are so many: pages ask the same again and again, and to parse and plan
 * their statements took PostgreSQL a fifth of its time for them.
 */
export function nameRepeated(maxTexts: number): NameStatement {
  const names = new Map<string, string>()
  const seen = new LRUCache<string, true>({ max: MAX_SEEN_TEXTS })
  return (text) => {
    const known = statementName(text) ?? names.get(text)
    if (known !== undefined || names.size >= maxTexts) return known
    if (!seen.delete(text)) {
      seen.set(text, true)
      return undefined
    }
    const name = `report ${names.size + 1}`
    names.set(text, name)
    return name
  }
}

/**
 * For reports, with PostgreSQL's own plans: the settings for reads by key would slow them down.
 */
export const openReportDatabase = (url: string, applicationName: string, log: Log): Kysely<Tables> =>
  queryBuilder(
    readPool(openPool(url, { max: MAX_CONNECTIONS, application_name: applicationName }, log)),
    nameRepeated(MAX_NAMED_TEXTS),
  )
