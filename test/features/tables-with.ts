import { queryRows } from '../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'

/** The tables with rows in which a text stands, in any case, and how many these are. */
export async function tablesWith(database: TestDatabase, text: string): Promise<Readonly<Record<string, number>>> {
  const tables = await queryRows(
    database,
    `select relname from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace`,
  )
  const counts = tables.map(
    ({ relname }) => `select '${relname}' as name, count(*) as rows from ${relname} r where r::text ilike '%${text}%'`,
  )
  const found = await queryRows(database, counts.join(' union all '))
  return Object.fromEntries(
    found.flatMap(({ name, rows }) => (rows === '0' ? [] : [[String(name), Number(rows)] as const])),
  )
}
