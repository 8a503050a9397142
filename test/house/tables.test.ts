import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'tap'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

const readme = readFileSync(new URL('../../sql/README.md', import.meta.url), 'utf8')

test('sql/README.md has every table', async (t) => {
  const tables = await queryRows(
    await testDatabase(t),
    `select relname from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  const listed = [...readme.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)].map(([, name = '', cells = '']) => ({
    name,
    cells: cells.split('|').map((cell) => cell.trim()),
  }))
  t.same(listed.map(({ name }) => name).toSorted(), tables.map(({ relname }) => String(relname)).toSorted())
  for (const { name, cells } of listed) t.ok(cells.length === 4 && cells.every((cell) => cell !== ''), name)
})

/** A table, or a schema in an SQL text, that would be the default one whatever LEDGER_SCHEMA is. */
const FIXED_SCHEMA = /\bpublic\.[a-z"]|'public'::|\bschema public\b|search_path\s*=\s*public/

test('no code and no migration names the default schema', (t) => {
  const root = new URL('../../', import.meta.url)
  for (const folder of ['src', 'sql', 'scripts']) {
    for (const name of readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(ts|sql)$/.test(name)) continue
      const code = readFileSync(new URL(`${folder}/${name}`, root), 'utf8').replaceAll(/^\s*(\/\/|--|\*).*$/gm, '')
      t.notMatch(code, FIXED_SCHEMA, `${folder}/${name}`)
    }
  }
  for (const text of ['from public.rooms', "= 'public'::regnamespace", 'set search_path = public']) {
    t.match(text, FIXED_SCHEMA)
  }
  t.end()
})
