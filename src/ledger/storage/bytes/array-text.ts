// Arrays as text. The driver would do it too, escaping every element by regular expressions; most of ours are numbers,
// hashes and account names, which need none, or JSON of one line, which is nothing but what would be escaped.

/** For elements without quotes, backslashes, commas, braces and white space: numbers, hashes, account names, times. */
export const plainArray = (values: readonly (string | number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`

/** For any text. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

/** For texts without control characters, at least one: not an array's text, but one that `fromLines` makes an array of. */
export const joinLines = (values: readonly (string | null)[]): string => values.map((value) => value ?? '\t').join('\n')

/** SQL: the array in a parameter that was made by `lines`. */
export const arrayFromLines = (parameter: string): string => `string_to_array(${parameter}::text, E'\\n', E'\\t')`
