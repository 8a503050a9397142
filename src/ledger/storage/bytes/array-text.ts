// PostgreSQL arrays as text, for parameters of statements.

/** For elements without quotes, backslashes, commas, braces or white space: numbers, hashes, account names, times. */
export const plainArray = (values: readonly (string | number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`

/** For any text. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

/** For texts that are JSON on one line: JSON escapes them as arrays do, five times as fast as `replace`. */
export const jsonArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : JSON.stringify(value))).join(',')}}`
