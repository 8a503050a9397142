// PostgreSQL arrays as text, for parameters of statements.

/** For elements without quotes, backslashes, commas, braces or white space: numbers, hashes, account names, times. */
export const plainArray = (values: readonly (string | number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`

/** For any text. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : quoted(value))).join(',')}}`

/**
 * JSON escapes quotes and backslashes as arrays do, in a third of the time of `replace` for events and replies (0.9
 * instead of 3.0 µs for 180 characters); but what it writes for control characters and lone surrogates, arrays do not
 * understand.
 */
const quoted = (text: string): string =>
  /[\p{Cc}\p{Cs}]/u.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : JSON.stringify(text)
