import type { PageQuery } from '../../schema/common.ts'
import { validationFailed } from './validation/validation.ts'

const DEFAULT_LIMIT = 50

/** JSON of the rows of a page; what is added to them when they are answered (addresses of pictures) is less than that. */
export const MAX_PAGE_BYTES = 512 * 1024

export interface Page {
  readonly limit: number
  /** Where the last page ended; null for the first page. */
  readonly cursor: readonly number[] | null
}

/**
 * Limit and cursor of a paged list whose order is that of `parts` whole numbers. 422 for a cursor that did not come
 * from such a list.
 */
export function readPage(query: PageQuery, parts: number): Page {
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit)
  return { limit, cursor: query.cursor === undefined ? null : decodeCursor(query.cursor, parts) }
}

/** The first of these rows, as many as have so many bytes; one at least. */
export function rowsThatFit<Row>(rows: readonly Row[], maxBytes = MAX_PAGE_BYTES): readonly Row[] {
  // Most pages are small: one pass tells. A UTF-16 unit is three bytes at most.
  if (JSON.stringify(rows).length <= maxBytes / 3) return rows
  let bytes = 0
  const end = rows.findIndex((row) => (bytes += Buffer.byteLength(JSON.stringify(row)) + 1) > maxBytes)
  return end === -1 ? rows : rows.slice(0, Math.max(1, end))
}

/**
 * The body of a page made of one row more than it shows: the row too many only tells that there is a next page. It ends
 * early where its rows are large.
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  place: (row: Row) => readonly number[],
): { readonly data: readonly Row[]; readonly meta: { readonly next_cursor: string | null } } {
  const data = rowsThatFit(rows.slice(0, limit))
  return pageBody(data, rows.length > data.length, place)
}

/** The body of a page; `more`: there is a next one. */
export function pageBody<Row>(
  data: readonly Row[],
  more: boolean,
  place: (row: Row) => readonly number[],
): { readonly data: readonly Row[]; readonly meta: { readonly next_cursor: string | null } } {
  const last = data.at(-1)
  return { data, meta: { next_cursor: more && last !== undefined ? encodeCursor(place(last)) : null } }
}

export const encodeCursor = (place: readonly number[]): string => Buffer.from(place.join('.')).toString('base64url')

export function decodeCursor(cursor: string, parts: number): readonly number[] {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const place = text.split('.').map(Number)
  if (!/^\d{1,16}(\.\d{1,16})*$/.test(text) || place.length !== parts || !place.every(Number.isSafeInteger)) {
    throw validationFailed({ cursor: ['is not a cursor of this list'] })
  }
  return place
}
