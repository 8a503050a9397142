import { type RawBuilder, sql } from 'kysely'

/**
 * Whether a column is one of these ids. Unlike a list in parentheses it has the same text for any number of ids, so that
 * the statement can be prepared once.
 */
export const isAnyOf = (column: string, ids: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} = any (${ids}::bigint[])`
