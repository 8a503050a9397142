import { type RawBuilder, sql } from 'kysely'
import { isoMicros } from '../../ledger/rules/time.ts'

/** For lists ordered by an instant and an id, newest first: the rows after a cursor. */
export const isAfterCursor = (instant: string, id: string, cursor: readonly number[]): RawBuilder<boolean> => {
  const [at = 0, last = 0] = cursor
  return sql<boolean>`(${sql.ref(instant)}, ${sql.ref(id)}) < (${isoMicros(at)}::timestamptz, ${last}::bigint)`
}
