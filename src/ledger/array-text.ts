// Arrays as PostgreSQL reads them. The driver would do it too, escaping every element by regular expressions; most of
// ours are numbers, hashes and account names, which need none. It halves what a batch costs in here.

/** For elements without quotes, backslashes, commas, braces and white space: numbers, hashes, account names, times. */
export const plainArray = (values: readonly (string | number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`

/** For any text. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`
