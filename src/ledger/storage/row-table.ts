import type { Projection } from '../rules/projection.ts'
import { isoMicros } from '../rules/time.ts'
import { plainArray, textArray } from './bytes/array-text.ts'

/**
 * How a value is stored: `integer` (bigint; a safe integer here), `exact` (numeric; a bigint here), `micros`
 * (timestamptz; microseconds here), `json` (text; the parsed value here).
 */
type Kind = 'integer' | 'exact' | 'text' | 'boolean' | 'micros' | 'json'

type Source = 'ledger' | 'profile' | 'lookup'

type KindOf<Value> = [Exclude<Value, null>] extends [number]
  ? 'integer' | 'micros'
  : [Exclude<Value, null>] extends [bigint]
    ? 'exact'
    : [Exclude<Value, null>] extends [boolean]
      ? 'boolean'
      : [Exclude<Value, null>] extends [string]
        ? 'text'
        : 'json'

const sqlType: Record<Kind, string> = {
  integer: 'bigint',
  exact: 'numeric',
  text: 'text',
  boolean: 'boolean',
  micros: 'timestamptz',
  json: 'text',
}

export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

/** A row with every value as text. */
export type TextRow = Readonly<Record<string, string | null>>

export interface RowTable {
  readonly projection: Projection<unknown>
  /** `ledger`: follows from the events alone. `profile`: profile data, stored beside it. `lookup`: a read-only view of it. */
  readonly source: Source
  readonly columns: readonly string[]
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
  /** How much memory a row may take, as a multiple of the smallest rows. */
  readonly weight: number
  idOf(row: TextRow): string
  parse(row: TextRow): unknown
}

export interface RowTableSpec<Row> {
  readonly key: readonly (keyof Row & string)[]
  readonly columns: { readonly [C in keyof Row & string]: KindOf<Row[C]> }
  readonly source?: Source
  /** The table has a column `filling`, which keeps room for updates on the row's page. */
  readonly isRewrittenOften?: true
  /** 1 when left out. */
  readonly weight?: number
}

/** A new row carries this and loses it at its first update: about the size of a row. */
const FILLING = ' '.repeat(64)

/** Maps the rows of a projection to a table: fields are columns. An id of several columns joins them by `:`. */
export function rowTable<Row extends object>(projection: Projection<Row>, spec: RowTableSpec<Row>): RowTable {
  const { name } = projection
  const columns = Object.entries<Kind>(spec.columns)
  const keyKinds = spec.key.flatMap((key) => columns.filter(([column]) => column === key).map(([, kind]) => kind))
  const list = columns.map(([column]) => column).join(', ')
  const selected = columns
    .map(([column, kind]) =>
      kind === 'micros' ? `(extract(epoch from t.${column}) * 1000000)::bigint as ${column}` : `t.${column}`,
    )
    .join(', ')
  const arrays = (kinds: readonly Kind[]) => kinds.map((kind, i) => `$${i + 1}::${sqlType[kind]}[]`)
  const wanted = `unnest(${arrays(keyKinds).join(', ')}) as k (${spec.key.join(', ')})`
  const onKey = spec.key.map((key) => `t.${key} = k.${key}`).join(' and ')
  const rest = columns.map(([column]) => column).filter((column) => !spec.key.some((key) => key === column))
  const conflict =
    rest.length === 0
      ? 'do nothing'
      : `do update set ${rest.map((column) => `${column} = excluded.${column}`).join(', ')}`

  const keyValues = (ids: readonly string[]): string[] => {
    const [only] = keyKinds
    if (only !== undefined && spec.key.length === 1) return [arrayOf(only, ids)]
    const parts = ids.map((id) => id.split(':'))
    return keyKinds.map((kind, i) =>
      arrayOf(
        kind,
        parts.map((part) => part[i] ?? null),
      ),
    )
  }
  const load = `select ${selected} from ${wanted} join ${name} t on ${onKey}`
  // `unnest` in the select list saves PostgreSQL a function scan.
  const values = arrays(columns.map(([, kind]) => kind)).map((array) => `unnest(${array})`)
  const [born, rewritten] = spec.isRewrittenOften ? [', filling', ', filling = null'] : ['', '']
  const save = `insert into ${name} (${list}${born}) select ${values.join(', ')}${born && `, '${FILLING}'`} on conflict (${spec.key.join(', ')}) ${conflict}${rewritten}`
  const drop = `delete from ${name} t using ${wanted} where ${onKey}`

  return {
    projection,
    source: spec.source ?? 'ledger',
    weight: spec.weight ?? 1,
    columns: columns.map(([column]) => column),
    key: spec.key,
    load: (ids) => ({ name: `load ${name}`, text: load, values: keyValues(ids) }),
    save: (rows) => ({
      name: `save ${name}`,
      text: save,
      values: columns.map(([column, kind]) =>
        arrayOf(
          kind,
          rows.map((row) => printValue(kind, field(row, column))),
        ),
      ),
    }),
    remove: (ids) => ({ name: `drop ${name}`, text: drop, values: keyValues(ids) }),
    copyIn: `copy ${name} (${list}${born}) from stdin`,
    copyLine: (row) => {
      const fields = columns.map(([column, kind]) => copyField(printValue(kind, field(row, column))))
      return `${[...fields, ...(spec.isRewrittenOften ? [FILLING] : [])].join('\t')}\n`
    },
    selectAll: `select ${selected} from ${name} t`,
    idOf: (row) => spec.key.map((key) => row[key]).join(':'),
    parse: (row) =>
      Object.fromEntries(columns.map(([column, kind]) => [column, parseValue(kind, row[column] ?? null)])),
  }
}

const arrayOf = (kind: Kind, values: readonly (string | null)[]): string =>
  kind === 'text' || kind === 'json' ? textArray(values) : plainArray(values)

const copyEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const copyField = (text: string | null): string =>
  text === null ? '\\N' : text.replaceAll(/[\\\n\r\t]/g, (character) => copyEscapes[character] ?? character)

function field(row: unknown, column: string): unknown {
  if (typeof row !== 'object' || row === null || !(column in row)) throw new Error(`a row without ${column}`)
  return Reflect.get(row, column)
}

function parseValue(kind: Kind, text: string | null): unknown {
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

function printValue(kind: Kind, value: unknown): string | null {
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
