import type { Kysely } from 'kysely'
import type { QueryResultRow } from 'pg'
import type { Tables } from '../tables.ts'
import { connectionSourceOf } from './query-builder.ts'

/** Texts by name. */
const texts = new Map<string, string>()

/**
 * A statement of fixed text, which each connection parses once under a name and, after some executions, also plans
 * once: planning takes most of the time of a read by primary keys. It goes to the driver as it is: Kysely has nothing to
 * build.
 */
export class PreparedStatement<Row extends QueryResultRow> {
  readonly #name: string
  readonly #text: string

  /** `name` belongs to this text only, and has at most 63 bytes. */
  constructor(name: string, text: string) {
    if ((texts.get(name) ?? text) !== text) throw new Error(`two statements are named ${name}`)
    texts.set(name, text)
    this.#name = name
    this.#text = text
  }

  async execute(db: Kysely<Tables>, values: readonly unknown[]): Promise<readonly Row[]> {
    const client = await connectionSourceOf(db).connect()
    try {
      const { rows } = await client.query<Row>({ name: this.#name, text: this.#text, values: [...values] })
      return rows
    } finally {
      client.release()
    }
  }
}

/**
 * A list as a parameter of a PreparedStatement. The planner cannot see its length, so that a plan for any list looks as
 * good as one for the given list, and is kept. With a visible length, a few short lists at first would make it plan
 * every time.
 */
export const listOf = (parameter: string, type: string): string => `(select ${parameter}::${type}[])::${type}[]`
