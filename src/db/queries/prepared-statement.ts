import { CompiledQuery, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'

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
export const statementName = (text: string): string | undefined => names.get(text)
