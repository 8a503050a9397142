import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { ConsoleServices } from '../console-services.ts'
import type { Cell } from '../layout/cells.ts'
import { addressWith, type QueryValues } from '../layout/links.ts'
import { type PageEnd, pageEnd, readLedgerEnds } from './period.ts'

export const PAGE_ROWS = 50

/** An id or a position in a query. */
export const NumberQuery = Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' }))

/** What every list understands: the position that it is pinned to, where it continues, and its order. */
const listQuery = {
  at: NumberQuery,
  cursor: Type.Optional(Type.String({ maxLength: 300 })),
  sort: Type.Optional(Type.String({ maxLength: 40 })),
}

/** The filters of a list without any. */
export const noFilters = Type.Object({})

/** A column of a list, on its page and in its exports. */
export interface Column<Row> {
  /** In exports. */
  readonly name: string
  /** On the page. */
  readonly title: string
  readonly isNumber?: boolean
  /** The value of `sort` that orders by this column, ascending; with a minus before it, descending. */
  readonly sort?: string
  readonly cell: (row: Row) => Cell
}

/** A column of words, times or links. By the value `sort` of the address the list is sorted by it. */
export const column = <Row>(name: string, title: string, cell: (row: Row) => Cell, sort?: string): Column<Row> => ({
  name,
  title,
  cell,
  ...(sort === undefined ? {} : { sort }),
})

/** A column of numbers, which end below each other. */
export const numberColumn = <Row>(...[name, title, cell, sort]: Parameters<typeof column<Row>>): Column<Row> => ({
  ...column(name, title, cell, sort),
  isNumber: true,
})

/** Which rows of a list are asked for. */
export interface ListRequest<Query> {
  /** What the address says: filters, and parameters of the path. */
  readonly query: Query
  readonly db: Kysely<Tables>
  /** Nothing after this position is shown, so that pages do not shift. */
  readonly at: number
  /** Where the page before ended; null for the first one. */
  readonly cursor: string | null
  readonly limit: number
  /** Aborted when nobody waits for the rows any more. Exports give one, for lists whose reading takes long. */
  readonly signal?: AbortSignal
}

export interface ListRows<Row> {
  readonly rows: readonly Row[]
  /** Where the next page begins; null at the end. */
  readonly next: string | null
}

/** A list of a page: what it understands, its columns, and how its rows are read. */
export interface List<Filters extends TObject, Row> {
  /** What the rows are, for readers of screens: `Withdrawals`. */
  readonly label: string
  /** Filters of the query. `listQuery` is added to them. */
  readonly filters: Filters
  readonly columns: readonly Column<Row>[]
  /** What to do when there is nothing to show. */
  readonly empty: string
  /** Rows that exports read at a time: more than the usual ones where each reading goes through everything. */
  readonly exportPageRows?: number
  /** That rows are shown as they are now; `at` leaves out only those that came after it. */
  readonly isOfNow?: true
  /** Whether its rows are found by the indexes of the ledger, which are a little behind. Default: no. */
  readonly needsIndex?: (query: Static<Filters>) => boolean
  /** Throws for a query that cannot be answered, where reading its rows for that would take long. */
  readonly check?: (request: Pick<ListRequest<Static<Filters>>, 'query' | 'db' | 'at'>) => Promise<unknown>
  readonly read: (
    request: ListRequest<Static<Filters> & { readonly sort?: string }>,
    fastifyRequest: FastifyRequest,
  ) => Promise<ListRows<Row>>
}

/** A table as its template shows it. */
export interface Table {
  readonly label: string
  readonly empty: string
  /** What a reader has to know before its rows. */
  readonly note?: string | undefined
  readonly columns: readonly {
    readonly title: string
    readonly isNumber: boolean
    readonly sortHref?: string
    readonly sorted?: 'ascending' | 'descending'
  }[]
  readonly rows: readonly (readonly Cell[])[]
  readonly firstHref?: string
  /** What shows these rows again whatever happens since, for a colleague. */
  readonly pinnedHref?: string
  readonly nextHref?: string
  readonly exports?: { readonly csv: string; readonly jsonl: string; readonly about: string }
}

type QueryOf<Filters extends TObject> = Static<Filters> & {
  readonly at?: string
  readonly cursor?: string
  readonly sort?: string
}

/** The schema of the query of a list's page and its exports. */
export const querySchemaOf = <Filters extends TObject>({ filters }: List<Filters, never> | { filters: Filters }) =>
  Type.Composite([filters, Type.Object(listQuery)])

/** The event that a list of this query ends with. */
export const listEnd = async <Filters extends TObject>(
  db: Kysely<Tables>,
  { needsIndex }: Pick<List<Filters, never>, 'needsIndex'>,
  query: QueryOf<Filters>,
): Promise<PageEnd> => pageEnd(await readLedgerEnds(db), query.at, needsIndex?.(query) ?? false)

/** Reads a page of a list for a request, and shows it as a table. `path` is the page's, without its query. */
export async function readTable<Filters extends TObject, Row>(
  list: List<Filters, Row>,
  request: FastifyRequest,
  { chooseReportDatabase }: Pick<ConsoleServices, 'chooseReportDatabase'>,
  path: string,
): Promise<{ readonly table: Table; readonly rows: readonly Row[]; readonly at: number }> {
  // The schema of the route has checked it.
  const query = request.query as QueryOf<Filters>
  const { db } = await chooseReportDatabase()
  const { at, note: endNote } = await listEnd(db, list, query)
  const { rows, next } = await list.read({ query, db, at, cursor: query.cursor ?? null, limit: PAGE_ROWS }, request)
  const ofNow = list.isOfNow === true && query.at !== undefined ? ofNowNote(at) : undefined
  const note = endNote ?? ofNow
  const table = showTable(list, { path, query: Object(query), at, rows, next, note })
  return { table, rows, at }
}

/** What to know of a list that is pinned to a position, and yet is of now. */
export const ofNowNote = (at: number): string =>
  `Shown as it is now: only what came after event ${at.toLocaleString('en')} is left out.`

/** A table of rows of a list that were read already. */
export function showTable<Filters extends TObject, Row>(
  { label, empty, columns }: Pick<List<Filters, Row>, 'label' | 'empty' | 'columns'>,
  shown: {
    readonly path: string
    readonly query: QueryValues
    readonly at: number
    readonly rows: readonly Row[]
    readonly next: string | null
    /** False where the rows are not complete yet. */
    readonly hasExports?: boolean
    readonly note?: string | undefined
  },
): Table {
  const { path, query, at, rows, next, hasExports = true, note } = shown
  const { cursor, ...filters } = query
  const sort = typeof query['sort'] === 'string' ? query['sort'] : ''
  const pinned = { ...filters, at }
  return {
    label,
    note,
    // A page of a long search may be empty before the end.
    empty: next === null ? empty : 'Nothing was found so far. The next page searches on.',
    columns: columns.map(({ title, isNumber = false, sort: key }) => ({
      title,
      isNumber,
      ...(key === undefined
        ? {}
        : { sortHref: addressWith(path, { ...pinned, sort: sort === key ? `-${key}` : key }) }),
      ...(key !== undefined && sort.replace('-', '') === key
        ? { sorted: sort.startsWith('-') ? ('descending' as const) : ('ascending' as const) }
        : {}),
    })),
    rows: rows.map((row) => columns.map(({ cell }) => cell(row))),
    ...(cursor === undefined || cursor === null ? {} : { firstHref: addressWith(path, pinned) }),
    ...(next === null ? {} : { nextHref: addressWith(path, { ...pinned, cursor: next }) }),
    ...(hasExports && rows.length > 0
      ? {
          pinnedHref: addressWith(path, { ...pinned, cursor }),
          exports: {
            csv: addressWith(`${path}/export.csv`, pinned),
            jsonl: addressWith(`${path}/export.jsonl`, pinned),
            about: addressWith(`${path}/export.json`, pinned),
          },
        }
      : {}),
  }
}

/** A column of a table that is a part of a page. */
export type PartColumn<Row> = Omit<Column<Row>, 'name' | 'sort'>

export const part = <Row>(title: string, cell: (row: Row) => Cell): PartColumn<Row> => ({ title, cell })

export const numberPart = <Row>(title: string, cell: (row: Row) => Cell): PartColumn<Row> => ({
  title,
  cell,
  isNumber: true,
})

/** A table that is a part of a page, without sorting, pages or exports of its own. */
export const partTable = <Row>({
  label,
  empty,
  note,
  columns,
  rows,
}: {
  readonly label: string
  readonly empty: string
  readonly note?: string | undefined
  readonly columns: readonly PartColumn<Row>[]
  readonly rows: readonly Row[]
}): Table => ({
  label,
  empty,
  note,
  columns: columns.map(({ title, isNumber = false }) => ({ title, isNumber })),
  rows: rows.map((row) => columns.map(({ cell }) => cell(row))),
})

/** An input of the form above a list, for one of its filters. */
export interface FilterField {
  readonly name: string
  readonly label: string
  /** Values with what people read; the first one stands for none. Without them a text is typed. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly isNumber?: true
  readonly maxLength?: number
  readonly placeholder?: string
}

export const textFilter = (name: string, label: string, maxLength: number, placeholder?: string): FilterField => ({
  name,
  label,
  maxLength,
  ...(placeholder === undefined ? {} : { placeholder }),
})

export const idFilter = (name: string, label: string): FilterField => ({ name, label, isNumber: true, maxLength: 15 })

export const choiceFilter = (
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
): FilterField => ({ name, label, options })

/** The form as its template shows it. */
export interface ShownFilters {
  readonly action: string
  readonly button: string
  readonly fields: readonly (FilterField & { readonly value: string })[]
}

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
