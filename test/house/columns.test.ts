import { test } from 'tap'
import { plainTables } from '../../src/db/tables.ts'
import { tables } from '../../src/domain.ts'
import type { Columns } from '../../src/ledger/rules/projection.ts'
import { readDocument } from '../harness/documents/documents.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'

/** Every table that code declares, with all its columns. */
const declaredTables: readonly (readonly [table: string, columns: Columns])[] = [
  ...tables.map(
    ({ projection, otherColumns }) => [projection.name, { ...projection.columns, ...otherColumns }] as const,
  ),
  ...Object.entries<Columns>(plainTables),
]
const declared = declaredTables.flatMap(([table, columns]) =>
  Object.entries(columns).map(([name, { sqlType, isNullable }]) => ({
    column: `${table}.${name}`,
    sqlType,
    isNullable,
  })),
)

/** Kysely's own, and a view for people with psql. */
const undeclared = ['kysely_migration', 'kysely_migration_lock', 'ledger_movements']

const format = (column: string, type = 'unknown', isNullable = false): string =>
  `${column} ${type}${isNullable ? '' : ' not null'}`

async function compareWith(database: TestDatabase) {
  const found = await queryRows(
    database,
    `select relname || '.' || attname as column, format_type(atttypid, null) as type, attnotnull, relkind
     from pg_attribute join pg_class c on c.oid = attrelid
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
       and attnum > 0 and not attisdropped and relname not in (${undeclared.map((name) => `'${name}'`).join(', ')})`,
  )
  const types = await queryRows(
    database,
    `select name, format_type(name::regtype, null) as type
     from unnest('{${[...new Set(declared.map(({ sqlType }) => sqlType))].join(', ')}}'::text[]) as t (name)`,
  )
  const typeNames = new Map(types.map(({ name, type }) => [String(name), String(type)]))
  // PostgreSQL does not know which columns of a view can be null.
  const nullableColumns = new Map(declared.map(({ column, isNullable }) => [column, isNullable]))
  const inCode = declared.map(({ column, sqlType, isNullable }) => format(column, typeNames.get(sqlType), isNullable))
  const inDatabase = found.map(({ column, type, attnotnull, relkind }) =>
    format(String(column), String(type), relkind === 'v' ? nullableColumns.get(String(column)) : attnotnull === 'f'),
  )
  return {
    onlyInCode: inCode.filter((column) => !inDatabase.includes(column)).toSorted(),
    onlyInDatabase: inDatabase.filter((column) => !inCode.includes(column)).toSorted(),
  }
}

test('tables and columns of the migrated database are those that code declares and sql/README.md lists', async (t) => {
  const database = await testDatabase()
  t.ok(declared.length > 150)
  t.same(await compareWith(database), { onlyInCode: [], onlyInDatabase: [] })
  const tables = await queryRows(
    database,
    `select relname from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  // Tables that grow alike share a line.
  const listed = [...readDocument('sql/README.md').matchAll(/^\| (`\w+`(?:, `\w+`)*) \|(.*)\|$/gm)].map(
    ([, names = '', cells = '']) => ({
      names: names.replaceAll('`', '').split(', '),
      cells: cells.split('|').map((cell) => cell.trim()),
    }),
  )
  t.same(listed.flatMap(({ names }) => names).toSorted(), tables.map(({ relname }) => String(relname)).toSorted())
  for (const { names, cells } of listed)
    t.ok(cells.length === 2 && cells.every((cell) => cell !== ''), names.join(', '))
})

test('a column that is added, missing, of another type or nullable on one side alone is found', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    `alter table countries add column flag text;
     alter table rooms drop column trophy_points;
     alter table bag_counts alter column kinds type smallint;
     alter table decorations alter column odds_hash set not null;
     alter table devices alter column platform drop not null;
     create table strangers (id bigint not null)`,
  )
  t.same(await compareWith(database), {
    onlyInCode: [
      'bag_counts.kinds bigint not null',
      'decorations.odds_hash text',
      'devices.platform text not null',
      'rooms.trophy_points bigint not null',
    ],
    onlyInDatabase: [
      'bag_counts.kinds smallint not null',
      'countries.flag text',
      'decorations.odds_hash text not null',
      'devices.platform text',
      'strangers.id bigint not null',
    ],
  })
})
