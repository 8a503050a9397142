import type { PageQuery } from '../../schema/common.ts'
import { httpMessages } from './messages.ts'
import { validationFailed } from './validation/validation.ts'

const DEFAULT_LIMIT = 50

/** Bytes of a page's rows as JSON. What presenters add to them (addresses of pictures) is less than that again. */
export const MAX_PAGE_BYTES = 512 * 1024

export interface Page {
  readonly limit: number
  /** Where the last page ended; null for the first page. */
  readonly cursor: readonly number[] | null
}

/**
 * Limit and cursor of a list that is ordered by `parts` integers. Throws a 422 for a cursor of another list.
 */
export function readPage(query: PageQuery, parts: number): Page {
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit)
  return { limit, cursor: query.cursor === undefined ? null : decodeCursor(query.cursor, parts) }
}

/** The first rows that fit into `maxBytes`, at least one. */
export function rowsThatFit<Row>(rows: readonly Row[], maxBytes = MAX_PAGE_BYTES): readonly Row[] {
  // Most pages are small, and one pass shows it: a UTF-16 unit is three bytes at most.
  if (JSON.stringify(rows).length <= maxBytes / 3) return rows
  let bytes = 0
  const end = rows.findIndex((row) => (bytes += Buffer.byteLength(JSON.stringify(row)) + 1) > maxBytes)
  return end === -1 ? rows : rows.slice(0, Math.max(1, end))
}

/**
 * The body of a page, from one row more than `limit`: the extra row only shows that there is a next page. The page ends
 * early when its rows are large.
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  sortKeyOf: (row: Row) => readonly number[],
): { readonly data: readonly Row[]; readonly meta: { readonly next_cursor: string | null } } {
  const data = rowsThatFit(rows.slice(0, limit))
  return pageBody(data, rows.length > data.length, sortKeyOf)
}

/** The body of a page; `hasMore` says that there is a next one. */
export function pageBody<Row>(
  data: readonly Row[],
  hasMore: boolean,
  sortKeyOf: (row: Row) => readonly number[],
): { readonly data: readonly Row[]; readonly meta: { readonly next_cursor: string | null } } {
  const last = data.at(-1)
  return { data, meta: { next_cursor: hasMore && last !== undefined ? encodeCursor(sortKeyOf(last)) : null } }
}

export const encodeCursor = (sortKey: readonly number[]): string => Buffer.from(sortKey.join('.')).toString('base64url')

export function decodeCursor(cursor: string, parts: number): readonly number[] {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const sortKey = text.split('.').map(Number)
  if (!/^\d{1,16}(\.\d{1,16})*$/.test(text) || sortKey.length !== parts || !sortKey.every(Number.isSafeInteger)) {
    throw validationFailed({ cursor: [httpMessages.invalid_cursor] })
  }
  return sortKey
}
