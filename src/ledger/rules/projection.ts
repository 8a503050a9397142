import type { Micros } from './time.ts'

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

/** How a value of a row is stored, and what the rules see of it. */
export type RowKind =
  /** A whole number, which is a safe integer. */
  | 'integer'
  /** numeric; a bigint. */
  | 'exact'
  | 'text'
  | 'boolean'
  /** timestamptz; microseconds. */
  | 'micros'
  /** JSON text; the parsed value. */
  | 'json'

/** Arrays are in tables that are no projections. */
export type ColumnKind = RowKind | 'texts' | 'bytes'

/** A column of a table. `Value` is its type in rows. */
export interface Column<Kind extends ColumnKind = ColumnKind, Value = unknown> {
  readonly kind: Kind
  /** Its type in PostgreSQL. */
  readonly sqlType: string
  readonly isNullable: boolean
  /** Never set: it ties `Value` to the column. */
  readonly value?: Value | undefined
}

/** The columns of a table by name. */
export type Columns<Kind extends ColumnKind = ColumnKind> = Readonly<Record<string, Column<Kind>>>

/** A row with these columns. */
type Row<Of extends Columns> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> }

type ValueOf<Of> = Of extends Column<ColumnKind, infer Value> ? Value : never

export const column = <Kind extends ColumnKind, Value>(kind: Kind, sqlType: string): Column<Kind, Value> => ({
  kind,
  sqlType,
  isNullable: false,
})

export const integer = () => column<'integer', number>('integer', 'bigint')
export const exact = () => column<'exact', bigint>('exact', 'numeric')
export const text = <Text extends string = string>() => column<'text', Text>('text', 'text')
export const boolean = () => column<'boolean', boolean>('boolean', 'boolean')
export const micros = () => column<'micros', Micros>('micros', 'timestamptz')
export const json = <Parsed>() => column<'json', Parsed>('json', 'text')

export const nullable = <Kind extends ColumnKind, Value>({
  kind,
  sqlType,
}: Column<Kind, Value>): Column<Kind, Value | null> => ({ kind, sqlType, isNullable: true })

/** Rows by projection and id. Reading a row that the verb did not declare in its `reads` is a bug and throws. */
export interface State {
  get<Row>(projection: Projection<Row>, id: string): Row | undefined
  /** Whether the row may be read: it was loaded, or is known not to exist. */
  isLoaded(projection: Projection<unknown>, id: string): boolean
}

export interface WritableState extends State {
  /** Writes a row, declared or not; `undefined` deletes it. */
  set<Row>(projection: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void
  /** Adds to a balance and returns the new one, or 0 for a balance that is kept elsewhere. */
  add?(account: string, change: number | bigint): number | bigint
}
