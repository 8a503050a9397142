import type { Kysely } from 'kysely'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { InvalidQuery, type QueryContext } from '../reports/query-context.ts'
import type { CommandContext } from './command.ts'

/** Does some reading in a command: with connections of its own, progress, and an end when one is asked for. */
export async function withQueryContext<Result>(
  { url, terminal, signal }: CommandContext,
  work: (db: Kysely<Tables>, reading: QueryContext) => Promise<Result>,
): Promise<Result> {
  const pool = openPool(url, { max: 2, application_name: 'audit' })
  const db = queryBuilder(pool)
  let of = 0
  let events = 0
  const reading: QueryContext = {
    signal,
    onPlanned: (more) => void (of += more),
    onScanned: (more) => terminal.progress({ events: (events += more), of }),
  }
  try {
    return await work(db, reading)
  } catch (error) {
    if (error instanceof InvalidQuery) throw new Error(`--${error.field}: ${error.message}`, { cause: error })
    throw error
  } finally {
    await db.destroy()
  }
}
