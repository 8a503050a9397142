import type { Kysely } from 'kysely'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { InvalidQuery, type QueryContext } from '../reports/query-context.ts'
import type { CommandContext } from './command.ts'

/** Calls `work` with connections of its own, a context that draws progress and carries the command's signal, and the address. */
export async function withQueryContext<Result>(
  { reportUrl, terminal, signal }: CommandContext,
  work: (db: Kysely<Tables>, context: QueryContext, url: string) => Promise<Result>,
): Promise<Result> {
  const url = await reportUrl()
  const pool = openPool(url, { max: 2, application_name: 'audit' })
  const db = queryBuilder(pool)
  let of = 0
  let events = 0
  const context: QueryContext = {
    signal,
    onPlanned: (more) => void (of += more),
    onScanned: (more) => terminal.progress({ events: (events += more), of }),
  }
  try {
    return await work(db, context, url)
  } catch (error) {
    if (error instanceof InvalidQuery) throw new Error(`--${error.field}: ${error.message}`, { cause: error })
    throw error
  } finally {
    await db.destroy()
  }
}
