import { Kysely, PostgresDialect } from 'kysely'
import { openPool } from '../../db/pool.ts'
import type { Tables } from '../../db/tables.ts'
import type { Audit } from '../commands/command.ts'
import { type Reading, Unanswerable } from './query-context.ts'

/** Does some reading in a command: with connections of its own, progress, and an end when one is asked for. */
export async function withReads<Result>(
  { url, terminal, signal }: Audit,
  work: (db: Kysely<Tables>, reading: Reading) => Promise<Result>,
): Promise<Result> {
  const pool = openPool(url, { max: 2, application_name: 'audit' })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  let of = 0
  let events = 0
  const reading: Reading = {
    signal,
    ahead: (more) => void (of += more),
    looked: (more) => terminal.progress({ events: (events += more), of }),
  }
  try {
    return await work(db, reading)
  } catch (error) {
    if (error instanceof Unanswerable) throw new Error(`--${error.field}: ${error.message}`, { cause: error })
    throw error
  } finally {
    await db.destroy()
  }
}
