import { type RawBuilder, sql } from 'kysely'
import { folded } from '../../language/names.ts'

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
