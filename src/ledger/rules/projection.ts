/** A set of rows derived from the ledger, or of profile data stored beside it; `Row` is the type of its rows. */
export interface Projection<Row> {
  /** The name of its table. */
  readonly name: string
  /** Never set: it ties `Row` to the projection. */
  readonly row?: Row | undefined
}

export const projection = <Row>(name: string): Projection<Row> => ({ name })

/** Names one row of a projection. */
export interface Key {
  readonly projection: Projection<unknown>
  readonly id: string
}

export const keyOf = <Row>(projection: Projection<Row>, id: string | number): Key => ({
  projection,
  id: String(id),
})
