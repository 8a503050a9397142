import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { ListRows } from './list.ts'

/** The number before which a page of a list begins that is ordered by one number, the highest first. */
export const beforeOf = (cursor: string | null, at: number): number =>
  cursor === null ? at + 1 : (decodeCursor(cursor, 1)[0] ?? 0)

/** A page of a list from one row more than `limit`, which only shows that there is a next page. */
export function pageOfRows<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => number | readonly number[],
): ListRows<Row> {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: rows.length > limit && last !== undefined ? encodeCursor([keyOf(last)].flat()) : null }
}

/** A page of rows that were read all at once. */
export function pageOfAll<Row>(rows: readonly Row[], cursor: string | null, limit: number): ListRows<Row> {
  const [start = 0] = cursor === null ? [] : decodeCursor(cursor, 1)
  const end = start + limit
  return { rows: rows.slice(start, end), next: end < rows.length ? encodeCursor([end]) : null }
}
