import { type RawBuilder, sql } from 'kysely'
import { folded } from '../../language/names.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'

/** For Kysely: a column, or another SQL expression of ours, as microseconds since 1970. */
export const micros = (timestamp: string): RawBuilder<Micros> => sql<Micros>`${sql.raw(microsOf(timestamp))}`

/** SQL: a timestamptz as microseconds since 1970. */
export const microsOf = (timestamp: string): string => `(extract(epoch from ${timestamp}) * 1000000)::bigint`

/**
 * Whether a column is one of these ids. Unlike a list in parentheses it has the same text for any number of ids, so that
 * the statement can be prepared once.
 */
export const isAnyOf = (column: string, ids: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} = any (${ids}::bigint[])`

/** For lists ordered by an instant and an id, newest first: the rows after a cursor. */
export const isAfterCursor = (instant: string, id: string, cursor: readonly number[]): RawBuilder<boolean> => {
  const [at = 0, last = 0] = cursor
  return sql<boolean>`(${sql.ref(instant)}, ${sql.ref(id)}) < (${isoMicros(at)}::timestamptz, ${last}::bigint)`
}

/** The greatest code point: no text that begins with a word comes after the word with this behind it. */
const LAST_CODE_POINT = 0x10ffff

/**
 * Whether a column of folded texts begins with a word, whose letters are folded; `%` and `_` are characters like others.
 * Served by an index on `(column text_pattern_ops)`, also in a plan that is made before the word is known.
 */
export const beginsWith = (column: string, word: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(column)} ~>=~ ${folded(word)}::text and
                ${sql.ref(column)} ~<~ (${folded(word)}::text || chr(${sql.lit(LAST_CODE_POINT)})))`

/** Whether a column of folded texts is this word, whose letters are folded. */
export const isWord = (column: string, word: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} = ${folded(word)}::text`
