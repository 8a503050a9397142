import { type Kysely, sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../rules/time.ts'

/**
 * The last event at or before a time, by binary search, as times never decrease. In one query: some twenty of them, one
 * after the other, took most of the time of a page of a period.
 */
export async function lastPositionUntil(db: Kysely<Tables>, time: Micros, head: number): Promise<number> {
  const { rows } = await sql<{ low: number }>`
    with recursive search (low, high) as (
      select 0::bigint, ${head}::bigint
      union all
      select case when found.micros <= ${time} then step.middle else step.low end,
             case when found.micros <= ${time} then step.high else step.middle - 1 end
      from (select low, high, (low + high + 1) / 2 as middle from search where low < high) step
      cross join lateral (
        select ${micros('at')} as micros from ledger_events where position = step.middle limit 1
      ) found
    )
    select low from search where low = high`.execute(db)
  const [found] = rows
  if (found === undefined) throw new Error(`the ledger does not reach ${head}`)
  return found.low
}
