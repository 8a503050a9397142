import { type RawBuilder, sql } from 'kysely'

/** The greatest code point: no text that begins with a word comes after the word with this behind it. */
const LAST_CODE_POINT = 0x10ffff

/**
 * Whether a column begins with a word, in upper or lower case; `%` and `_` are characters like others. Served by an
 * index on `(lower(column) text_pattern_ops)`, also in a plan that is made before the word is known.
 */
export const beginsWith = (column: string, word: string): RawBuilder<boolean> =>
  sql<boolean>`(lower(${sql.ref(column)}) ~>=~ lower(${word}::text) and
                lower(${sql.ref(column)}) ~<~ (lower(${word}::text) || chr(${sql.lit(LAST_CODE_POINT)})))`

/** Whether a column is this word, in upper or lower case. Served by an index on `(lower(column))`. */
export const isWord = (column: string, word: string): RawBuilder<boolean> =>
  sql<boolean>`lower(${sql.ref(column)}) = lower(${word}::text)`
