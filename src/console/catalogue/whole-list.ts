import type { Kysely } from 'kysely'
import { MAX_INTEGER } from '../../../schema/common.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { givenName, type StoredName } from '../../language/names.ts'
import { parseId } from '../../ledger/rules/account.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { type Field, lineField, type Values } from '../layout/fields.ts'
import { type Column, type List, noFilters, pageOfAll } from '../lists/list.ts'

/** A part of the catalogue, of a few hundred rows at most. */
interface Catalogue<Row> {
  readonly label: string
  readonly empty: string
  readonly columns: readonly Column<Row>[]
  /** All rows, in the order of the page without a `sort`. */
  readonly all: (db: Kysely<Tables>) => Promise<readonly Row[]>
  /** By the `sort` of a column, what orders its rows. */
  readonly order: Readonly<Record<string, (row: Row) => string | number>>
}

export type CatalogueList<Row> = List<typeof noFilters, Row>

/**
 * A list that is read whole, as clients read it, and sorted in memory. Rows that were created after the position of the
 * page are left out; the others are shown as they are now, as the tables of the catalogue have no history.
 */
export const wholeList = <Row extends { readonly created_at: Micros }>({
  label,
  empty,
  columns,
  all,
  order,
}: Catalogue<Row>): CatalogueList<Row> => ({
  label,
  empty,
  columns,
  filters: noFilters,
  isOfNow: true,
  read: async ({ query: { sort = '' }, db, at, cursor, limit }) => {
    const next = await db
      .selectFrom('ledger_events')
      .select(micros('at').as('at'))
      .where('position', '=', at + 1)
      .executeTakeFirst()
    const rows = (await all(db)).filter(({ created_at }) => next === undefined || created_at < next.at)
    const name = sort.replace(/^-/, '')
    const keyOf = Object.hasOwn(order, name) ? order[name] : undefined
    const sorted = keyOf === undefined ? rows : rows.toSorted((a, b) => compare(keyOf(a), keyOf(b)))
    if (sort.startsWith('-')) sorted.reverse()
    return pageOfAll(sorted, cursor, limit)
  },
})

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en')

export const isNumber = (text: string): boolean => parseId(text) !== null

/** What is named by numbers: a new one gets the next. */
export const numbered = <Row>(
  list: CatalogueList<Row>,
  readNumbers: (db: Kysely<Tables>) => Promise<readonly number[]>,
) => ({
  list,
  key: { label: 'Id', control: { kind: 'number', min: 1, max: MAX_INTEGER } } as const,
  nextKey: async (db: Kysely<Tables>) => String(Math.max(0, ...(await readNumbers(db))) + 1),
})

/** The fields of a name in one language or two. */
export const nameFields: readonly Field<StoredName>[] = [
  lineField('name', 'Name', 100, ({ name }) => name, { isRequired: true, group: 'name' }),
  lineField('name_ar', 'Name in Arabic', 100, ({ name_ar }) => name_ar ?? '', {
    hint: 'Left empty, the first name is shown in both languages.',
    language: 'ar',
    group: 'name',
  }),
]

/** The name of a body of /admin/v1. */
export const nameIn = ({ name = '', name_ar = '' }: Values) =>
  name === '' ? undefined : givenName({ name, name_ar: name_ar === '' ? null : name_ar })
