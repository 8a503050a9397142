import { decodeCursor, encodeCursor } from '../../../http/pages.ts'
import type { ListRows } from '../../lists/list.ts'

/** The number before which a page of a list begins that is ordered by one number, the highest first. */
export const beforeOf = (cursor: string | null, at: number): number =>
  cursor === null ? at + 1 : (decodeCursor(cursor, 1)[0] ?? 0)

/** A page of such a list from one row more than `limit`, which only shows that there is a next page. */
export function pageOfRows<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => number): ListRows<Row> {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: rows.length > limit && last !== undefined ? encodeCursor([keyOf(last)]) : null }
}
