// PostgreSQL arrays as text. The driver would escape every element by regular expressions; most of ours are numbers,
// hashes and account names, which need no escapes, or JSON, which would be escaped nearly everywhere.

/** For elements without quotes, backslashes, commas, braces or white space: numbers, hashes, account names, times. */
export const plainArray = (values: readonly (string | number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`

/** For any text. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

/** For one or more texts without control characters. Not an array: `arrayFromLines` makes one of it in SQL. */
export const joinLines = (values: readonly (string | null)[]): string => values.map((value) => value ?? '\t').join('\n')

/** SQL for the array in a parameter that `joinLines` made. */
export const arrayFromLines = (parameter: string): string => `string_to_array(${parameter}::text, E'\\n', E'\\t')`
