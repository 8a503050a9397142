import type { Columns, Row } from './columns.ts'

/** A set of rows derived from the ledger, or of profile data stored outside it; `Row` is the type of its rows. */
export interface Projection<Row> {
  /** The name of its table. */
  readonly name: string
  /** Never set: it ties `Row` to the projection. */
  readonly row?: Row | undefined
}

/** A projection with the columns of its table: their one declaration, from which rows and queries get their types. */
export interface TableProjection<Name extends string, Of extends Columns> extends Projection<Row<Of>> {
  readonly name: Name
  readonly columns: Of
}

export const projection = <Name extends string, Of extends Columns>(
  name: Name,
  columns: Of,
): TableProjection<Name, Of> => ({
  name,
  columns,
})

/** The type of a projection's rows. */
export type RowOf<Of> = Of extends Projection<infer Row> ? Row : never

/** Names one row of a projection. */
export interface Key {
  readonly projection: Projection<unknown>
  readonly id: string
}

export const keyOf = <Row>(projection: Projection<Row>, id: string | number): Key => ({
  projection,
  id: String(id),
})
