import { microsOf } from '../../db/queries/expressions.ts'
import type { TablesOf } from '../../db/tables.ts'
import { balances, holds } from '../rules/account.ts'
import { incarnations, lostCommits, passedTime } from '../rules/incarnation.ts'
import { type Column, type Columns, nullable, type RowKind, type TableProjection, text } from '../rules/projection.ts'
import { isoMicros } from '../rules/time.ts'
import { fieldsOf } from './copy-rows.ts'

type Source = 'ledger' | 'profile' | 'lookup'

export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

/** A row with every value as text. */
export type TextRow = Readonly<Record<string, string | null>>

/** For queries whose rows are `TextRow`. */
export const asText = { getTypeParser: () => (text: string) => text }

export interface RowTable<Of extends TableProjection<string, Columns> = TableProjection<string, Columns>> {
  readonly projection: Of
  /**
   * `ledger`: follows from the events alone. `profile`: profile data, and whatever else is no part of the ledger. `lookup`:
   * a read-only view of such data.
   */
  readonly source: Source
  readonly columns: readonly string[]
  /** Further columns of the table, which rows do not have. */
  readonly otherColumns: Columns
  /** The columns that make up the id. */
  readonly key: readonly string[]
  /** The rows with these ids. */
  load(ids: readonly string[]): Statement
  /** Inserts or replaces rows. */
  save(rows: readonly unknown[]): Statement
  /** Deletes the rows with these ids. */
  remove(ids: readonly string[]): Statement
  /** `copy … from stdin` for new rows, each a `copyLine`. */
  readonly copyIn: string
  copyLine(row: unknown): string
  /** `select` of all rows, unordered, with their columns in order. */
  readonly selectAll: string
  /** A row as the line that `copy (<selectAll>) to stdout` writes. */
  line(row: unknown): string
  parseLine(line: string): Readonly<Record<string, unknown>>
  /** How much memory a row may take, as a multiple of the smallest rows. */
  readonly weight: number
  idOf(row: TextRow): string
  parse(row: TextRow): Readonly<Record<string, unknown>>
}

interface RowTableSpec<Name extends string> {
  readonly key: readonly Name[]
  readonly source?: Source
  /** The table has a column `filling`, which keeps room for updates on the row's page. */
  readonly isRewrittenOften?: true
  /** 1 when left out. */
  readonly weight?: number
}

/** A new row carries this and loses it at its first update: about the size of a row. */
const FILLING = ' '.repeat(64)

/** Maps the rows of a projection to a table: fields are columns. An id of several columns joins them by `:`. */
export function rowTable<Name extends string, Of extends Columns<RowKind>>(
  projection: TableProjection<Name, Of>,
  spec: RowTableSpec<keyof Of & string>,
): RowTable<TableProjection<Name, Of>> {
  const { name } = projection
  const declared: readonly (readonly [name: string, column: Column<RowKind>])[] = Object.entries(projection.columns)
  const columns = declared.map(([column]) => column)
  const keyColumns = spec.key.flatMap((key) => declared.filter(([name]) => name === key).map(([, column]) => column))
  const list = columns.join(', ')
  const selected = declared
    .map(([column, { kind }]) => (kind === 'micros' ? `${microsOf(`t.${column}`)} as ${column}` : `t.${column}`))
    .join(', ')
  const arrays = (of: readonly Column[]) => of.map(({ sqlType }, i) => `$${i + 1}::${sqlType}[]`)
  const wanted = `unnest(${arrays(keyColumns).join(', ')}) as k (${spec.key.join(', ')})`
  const onKey = spec.key.map((key) => `t.${key} = k.${key}`).join(' and ')
  const rest = columns.filter((column) => !spec.key.some((key) => key === column))
  const conflict =
    rest.length === 0
      ? 'do nothing'
      : `do update set ${rest.map((column) => `${column} = excluded.${column}`).join(', ')}`

  const keyValues = (ids: readonly string[]): string[] => {
    const [only] = keyColumns
    if (only !== undefined && keyColumns.length === 1) return [arrayOf(only.kind, ids)]
    const parts = ids.map((id) => id.split(':'))
    return keyColumns.map(({ kind }, i) =>
      arrayOf(
        kind,
        parts.map((part) => part[i] ?? null),
      ),
    )
  }
  const load = `select ${selected} from ${wanted} join ${name} t on ${onKey}`
  // `unnest` in the select list saves PostgreSQL a function scan.
  const values = arrays(declared.map(([, column]) => column)).map((array) => `unnest(${array})`)
  const [born, rewritten] = spec.isRewrittenOften ? [', filling', ', filling = null'] : ['', '']
  const save = `insert into ${name} (${list}${born}) select ${values.join(', ')}${born && `, '${FILLING}'`} on conflict (${spec.key.join(', ')}) ${conflict}${rewritten}`
  const drop = `delete from ${name} t using ${wanted} where ${onKey}`

  return {
    projection,
    source: spec.source ?? 'ledger',
    weight: spec.weight ?? 1,
    columns,
    otherColumns: spec.isRewrittenOften ? { filling: nullable(text()) } : {},
    key: spec.key,
    load: (ids) => ({ name: `load ${name}`, text: load, values: keyValues(ids) }),
    save: (rows) => ({
      name: `save ${name}`,
      text: save,
      values: declared.map(([column, { kind }]) =>
        arrayOf(
          kind,
          rows.map((row) => printValue(kind, field(row, column))),
        ),
      ),
    }),
    remove: (ids) => ({ name: `drop ${name}`, text: drop, values: keyValues(ids) }),
    copyIn: `copy ${name} (${list}${born}) from stdin`,
    copyLine: (row) => {
      const fields = declared.map(([column, { kind }]) => copyField(printValue(kind, field(row, column))))
      return `${[...fields, ...(spec.isRewrittenOften ? [FILLING] : [])].join('\t')}\n`
    },
    selectAll: `select ${selected} from ${name} t`,
    line: (row) => declared.map(([column, { kind }]) => copiedText(kind, field(row, column))).join('\t'),
    parseLine(line) {
      const fields = fieldsOf(line)
      return Object.fromEntries(declared.map(([column, { kind }], i) => [column, parseValue(kind, fields[i] ?? null)]))
    },
    idOf: (row) => spec.key.map((key) => row[key]).join(':'),
    parse: (row) =>
      Object.fromEntries(declared.map(([column, { kind }]) => [column, parseValue(kind, row[column] ?? null)])),
  }
}

function arrayOf(kind: RowKind, values: readonly (string | null)[]): string {
  if (kind === 'json') return jsonArray(values)
  return kind === 'text' ? textArray(values) : plainArray(values)
}

const copyEscapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

const copyField = (text: string | null): string =>
  text === null ? '\\N' : text.replaceAll(/[\\\b\f\n\r\t\v]/g, (character) => copyEscapes[character] ?? character)

/** A value as `copy … to stdout` writes what `selectAll` selects. */
function copiedText(kind: RowKind, value: unknown): string {
  switch (kind) {
    case 'text':
    case 'json':
      return copyField(printValue(kind, value))
    case 'boolean':
      return value === null ? '\\N' : value === true ? 't' : 'f'
    case 'integer':
    case 'exact':
    case 'micros':
      return printValue('integer', value) ?? '\\N'
  }
}

function field(row: unknown, column: string): unknown {
  if (typeof row !== 'object' || row === null || !(column in row)) throw new Error(`a row without ${column}`)
  return Reflect.get(row, column)
}

function parseValue(kind: RowKind, text: string | null): unknown {
  if (text === null) return null
  switch (kind) {
    case 'integer':
    case 'micros':
      return Number(text)
    case 'exact':
      return BigInt(text)
    case 'boolean':
      return text === 't'
    case 'json':
      return JSON.parse(text)
    case 'text':
      return text
  }
}

function printValue(kind: RowKind, value: unknown): string | null {
  if (value === null) return null
  switch (kind) {
    case 'micros':
      return isoMicros(Number(value))
    case 'json':
      return JSON.stringify(value)
    case 'integer':
    case 'exact':
    case 'boolean':
    case 'text':
      return `${value as number | bigint | boolean | string}`
  }
}

// PostgreSQL arrays as text, for parameters of statements.

/** For elements without quotes, backslashes, commas, braces or white space: numbers, hashes, account names, times. */
export const plainArray = (values: readonly (string | number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`

/** For any text. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

/** For texts that are JSON on one line: JSON escapes them as arrays do, five times as fast as `replace`. */
export const jsonArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : JSON.stringify(value))).join(',')}}`

export const ledgerTables = [
  rowTable(balances, { key: ['account'], isRewrittenOften: true }),
  rowTable(holds, { key: ['account'] }),
  rowTable(incarnations, { key: ['one'] }),
  rowTable(lostCommits, { source: 'profile', key: ['one'] }),
  rowTable(passedTime, { source: 'profile', key: ['only_row'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof ledgerTables> {}
}
