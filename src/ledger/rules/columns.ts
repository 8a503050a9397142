import type { Micros } from './time.ts'

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
export type ColumnKind = RowKind | 'texts' | 'integers'

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
export type Row<Of extends Columns> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> }

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
