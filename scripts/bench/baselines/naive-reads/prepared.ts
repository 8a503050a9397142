import type { Pool, QueryResultRow } from 'pg'

/** Asks with a statement that each connection plans once. */
export const prepared =
  <Row extends QueryResultRow>(name: string, text: string) =>
  async (pool: Pool, ...values: readonly (string | number)[]): Promise<Row[]> =>
    (await pool.query<Row>({ name, text, values: [...values] })).rows

/** An instant's column as microseconds since 1970. */
export const microsOf = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint`

/** A person as JSON; null where the join found nobody. */
export const personOf = (profile: string): string =>
  `case when ${profile}.user_id is not null then json_build_object('id', ${profile}.user_id,
     'name', ${profile}.name, 'avatar', ${profile}.avatar, 'uid', ${profile}.uid) end`
