import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

const readme = readFileSync(new URL('../../sql/README.md', import.meta.url), 'utf8')

test('sql/README.md has every table', async (t) => {
  const tables = await queryRows(
    await testDatabase(),
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
