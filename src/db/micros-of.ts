/** SQL: a timestamptz as microseconds since 1970. */
export const microsOf = (timestamp: string): string => `(extract(epoch from ${timestamp}) * 1000000)::bigint`
