import { type RawBuilder, sql } from 'kysely'
import { isoMicros, type Micros } from '../ledger/rules/time.ts'

/** An instant's column as microseconds since 1970. */
export const micros = (column: string): RawBuilder<Micros> =>
  sql<Micros>`(extract(epoch from ${sql.ref(column)}) * 1000000)::bigint`

/** For lists that are newest first by an instant and an id: what comes after that place. */
export const isAfterCursor = (instant: string, id: string, cursor: readonly number[]): RawBuilder<boolean> => {
  const [at = 0, last = 0] = cursor
  return sql<boolean>`(${sql.ref(instant)}, ${sql.ref(id)}) < (${isoMicros(at)}::timestamptz, ${last}::bigint)`
}
